"""Special functions, under SciPy's names: a file for each chapter, and the builders of their rows.

Numbers such as DLMF 10.6.3 are equations of the NIST Digital Library of Mathematical Functions,
https://dlmf.nist.gov, the source of the derivatives. Formulas call no function that CuPy lacks,
unless CuPy lacks the row's own function too.
"""
