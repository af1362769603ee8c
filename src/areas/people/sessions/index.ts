/** The functions of sessions that pages use. */
export {
  beginSession,
  confirmSession,
  cookieFor,
  endSession,
  endSessions,
  listSessions,
  renewedCookie,
  signIn,
} from './actions.ts';
export { deleteEndedSessions, sendPasswordLink } from './jobs.ts';
export { changePassword, choosePassword, passwordLinkFor, resetPassword, usernameOfLink } from './password_actions.ts';
export { passwordLink_hours, passwordPage } from './rules.ts';
export { signUp, signUpRules } from './sign_up_actions.ts';
