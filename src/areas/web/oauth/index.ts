/** The pages of applications that use accounts of this server. */
export { authorizePage } from './pages.ts';
