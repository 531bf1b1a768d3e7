"""
A category from one image
=========================

One image of a new category says little. Images of a related category say what such things look like, and the new
category may borrow that. Nothing is borrowed behind your back: the choice is shown, and can be taken back.
"""

import numpy as np
from sklearn.datasets import load_digits

from fewsight import RBF, GPClassifier, suggest_loan

X, y = load_digits(return_X_y=True)
names = np.array(["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"])[y]
rng = np.random.default_rng(3)
order = rng.permutation(len(X))

# %%
# Twenty examples of every digit but the nine, of which there is one.

train = np.concatenate([order[names[order] == name][: 1 if name == "nine" else 20] for name in sorted(set(names))])
test = np.setdiff1d(order, train)
gp = GPClassifier(RBF(scale=30.0)).fit(X[train], names[train])


def recognised():
    found = gp.predict(X[test])
    nine = names[test] == "nine"
    return f"nines {np.mean(found[nine] == 'nine'):.1%}, all others {np.mean(found[~nine] == names[test][~nine]):.1%}"


print("alone:    ", recognised())

# %%
# ``suggest_loan`` looks for the category that helps most and changes nothing. It is None where no loan helps.

loan = suggest_loan(gp, "nine")
print(loan)

# %%
# Take the loan, look, and give it back.

if loan is not None:
    gp.borrow("nine", loan.lender, loan.rho)
    print("borrowing:", recognised())
    gp.give_back("nine")
    print("given back:", recognised())

# %%
# With five or more images of its own a category needs no loan: then it costs more than it brings. On a folder of
# images it is ``fewsight learn photos --borrow -o model.fewsight``, and ``fewsight evaluate photos --borrow
# --per-class 1`` says whether it pays.
