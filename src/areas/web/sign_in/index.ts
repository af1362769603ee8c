/** The pages around sessions. */
export { secondFactorsPage, secondFactorsRedirect } from './factor_pages.ts';
export { identitiesPage } from './identity_pages.ts';
export {
  changePasswordPage,
  choosePasswordPage,
  forgottenPasswordPage,
  signInPage,
  signOutPage,
} from './pages.ts';
export { providerPages } from './provider_pages.ts';
export { confirmPasswordPage, secondFactorSignInPage } from './second_factor_pages.ts';
export { sessionsPage } from './session_pages.ts';
export { signUpPage } from './sign_up_pages.ts';
