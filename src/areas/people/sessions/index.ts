/** The functions of sessions that pages use. */
export { confirmByPassword, endSession, endSessions, listSessions, renewedCookie, signOut } from './actions.ts';
export { deleteEndedSessions, sendPasswordLink } from './jobs.ts';
export { changePassword, choosePassword, passwordLinkFor, resetPassword, usernameOfLink } from './password_actions.ts';
export { passwordLink_hours, passwordPage } from './rules.ts';
export {
  finishSignIn,
  passwordsSignIn,
  pendingCookie,
  type SignedIn,
  secondFactorPage,
  signIn,
} from './sign_in_actions.ts';
export { signUp, signUpRules } from './sign_up_actions.ts';
