/** The interface of CI/CD variables to other districts. */
export { variablesOfJobs } from './job_queries.ts';
export { brokenValues } from './queries.ts';
