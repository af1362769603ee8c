/** The interface of CI/CD variables to other districts. */
export { brokenValues } from './queries.ts';
