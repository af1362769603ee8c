/** The pages around sessions. */
export {
  changePasswordPage,
  choosePasswordPage,
  confirmPasswordPage,
  forgottenPasswordPage,
  signInPage,
  signOutPage,
} from './pages.ts';
export { preferencesPage, sessionsPage } from './session_pages.ts';
