/** The pages of compliance frameworks. */
export { frameworkPages } from './framework_pages.ts';
export { complianceStatusPages } from './status_pages.ts';
