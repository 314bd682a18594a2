"""The bundled data files; read them through :mod:`ddr.paper.datasets`."""
