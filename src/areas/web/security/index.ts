/** The pages of vulnerabilities and dependencies. */
export { securityPages } from './pages.ts';
