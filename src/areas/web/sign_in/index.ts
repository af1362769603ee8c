/** The pages around sessions. */
export {
  changePasswordPage,
  choosePasswordPage,
  confirmPasswordPage,
  forgottenPasswordPage,
  signInPage,
  signOutPage,
} from './pages.ts';
export { sessionsPage } from './session_pages.ts';
export { signUpPage } from './sign_up_pages.ts';
