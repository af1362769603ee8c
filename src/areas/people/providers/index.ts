/** Providers that sign people in, for the pages. */
export { askDirectories, checkIfThere, linkByDirectory, signInByDirectory } from './directory_actions.ts';
export { providerDoorway } from './http.ts';
export { linkedProviders, unlinkIdentity } from './identity_actions.ts';
export { checkActivePeople, checkEverybody, forgetOldRounds } from './jobs.ts';
export { away_minutes } from './round_actions.ts';
export { SignInRefused } from './rules.ts';
export {
  type AwayProvider,
  comeBack,
  leaveFor,
  providerNamed,
  type Returned,
  surroundingsOf,
} from './sign_in_actions.ts';
