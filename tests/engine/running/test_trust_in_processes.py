"""What is promised of code, state and reads holds in worker processes of our own: the tests of that, with no Spark.

Only those that run jobs: what is tested in the test's own process is the same, whoever the workers are.
"""

from __future__ import annotations

from tests.trust.test_code_travels import *  # noqa: F403
from tests.trust.test_code_travels import _as_it_was  # noqa: F401 - a fixture for all tests here
from tests.trust.test_reads import *  # noqa: F403
from tests.trust.test_shared_workers import *  # noqa: F403
from tests.trust.test_state import *  # noqa: F403
from tests.trust.test_worker_proves import *  # noqa: F403

# These name a Spark master, or look into Spark's own workers.
del test_a_program_without_assertions_has_workers_without_them  # noqa: F821
del test_a_program_as_main_with_classes_and_a_module_beside_it_from_another_folder  # noqa: F821
del test_rdd_functions_are_watched_too  # noqa: F821
del test_what_runs_after_a_job_works_where_pyspark_put_it  # noqa: F821
del test_a_worker_whose_folder_is_gone_works_on  # noqa: F821
