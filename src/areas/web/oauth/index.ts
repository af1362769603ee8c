/** The pages of applications that use accounts of this server. */

export { devicePage } from './device_pages.ts';
export { authorizePage } from './pages.ts';
