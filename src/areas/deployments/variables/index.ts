/** What other areas may use of CI/CD variables. */
export { brokenValues } from './queries.ts';
