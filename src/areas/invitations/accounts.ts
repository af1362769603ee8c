/** Accounts that people make for themselves because they are invited. */
import type { Database } from '../../db/index.ts';
import { forbidden, invalid } from '../../http/index.ts';
import { emailCheck, settingsOf } from '../application_settings/index.ts';
import { hasSeatsFor, lockedSource, noSeatsText } from '../members/index.ts';
import { usernameReasons } from '../namespaces/index.ts';
import { createUser, passwordReasons, personNameReasons } from '../users/index.ts';
import { acceptInvitation, type Outcome } from './acceptance.ts';
import { type OpenInvitation, placeOfInvitation } from './queries.ts';

export interface NewAccount {
  username: string;
  name: string;
  password: string;
}

/** Whether who is invited may make an account. */
export const isSignUpOpen = async (db: Database): Promise<boolean> => (await settingsOf(db)).signup_enabled;

/** @throws ApiError 400 with the reasons by field */
function checkAccount({ username, name, password }: NewAccount): void {
  const reasons = { username: usernameReasons(username), name: personNameReasons(name), password: passwordReasons(password) };
  const refused = Object.entries(reasons).filter(([, texts]) => texts.length > 0);
  if (refused.length > 0) throw invalid(Object.fromEntries(refused));
}

/**
 * Makes an account with the invited address, which counts as confirmed because the link came by it, and accepts the invitation with it.
 * @param tx a transaction
 * @returns undefined when the invitation is gone; then there is no account either
 * @throws ApiError 403 where sign-up is off, the address may not join or no seat is left; 400 and 409 for what an account cannot have
 */
export async function signUp(tx: Database, invitation: OpenInvitation, account: NewAccount): Promise<Outcome | undefined> {
  const settings = await settingsOf(tx);
  if (!settings.signup_enabled) throw forbidden('Sign-up is disabled');
  const email = invitation.invite_email;
  if (emailCheck(settings)(email)) throw forbidden('Email is not allowed for sign-up. Check with your administrator.');
  checkAccount(account);
  await lockedSource(tx, placeOfInvitation(invitation));
  if (!(await hasSeatsFor(tx, { user_ids: [], addresses: 1 }, invitation))) throw forbidden(noSeatsText({ access_level: 0 }));
  // Whoever has only claimed the address could otherwise keep its reader out.
  await tx
    .deleteFrom('emails')
    .where('email', '=', email)
    .where('confirmed_at', 'is', null)
    .where('is_primary', '=', false)
    .execute();
  const user_id = await createUser(tx, { ...account, email, confirmed: true });
  return acceptInvitation(tx, invitation, user_id);
}
