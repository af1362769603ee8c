/** The pages of applications that use accounts of this server. */

export { applicationPages } from './application_pages.ts';
export { devicePage } from './device_pages.ts';
export { authorizePage } from './pages.ts';
