/** Second factors, as pages and commands use them. */
export { removeAllFactors, removeFactor } from './change_actions.ts';
export { renewCodes } from './code_actions.ts';
export { deleteOldSignIns } from './jobs.ts';
export { type Factors, factorsOf, totpSecretOf } from './queries.ts';
export { authenticatorLink, inGroups } from './rules.ts';
export {
  confirmByFactor,
  finishBySecondFactor,
  type GivenFactor,
  hasKeys,
  pendingSignIn,
  signInByPasskey,
} from './sign_in_actions.ts';
export { beginTotp, enableTotp } from './totp_actions.ts';
export { addKey, authenticationOptions, registrationOptions } from './webauthn_actions.ts';
