"""A module beside the job file."""


def clean(word):
    return word.strip(".,").lower()
