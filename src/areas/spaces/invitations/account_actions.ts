/** Sign-up of invited people. */
import { subtreeOf } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import { forbidden, invalid } from '../../../http/index.ts';
import { emailRefusals, settingsOf } from '../../instance/application_settings/index.ts';
import { endClaimsTo } from '../../people/emails/index.ts';
import { usernameReasons } from '../../people/namespaces/index.ts';
import { createUser, passwordReasons, personNameReasons } from '../../people/users/index.ts';
import { lockedSource } from '../members/queries.ts';
import { noSeatsText } from '../members/refusal_rules.ts';
import { hasSeatsFor } from '../members/seat_queries.ts';
import { acceptInvitation, type Outcome } from './acceptance_actions.ts';
import { invitationNumbered, type OpenInvitation, objectionTo } from './queries.ts';

export interface NewAccount {
  username: string;
  name: string;
  password: string;
}

/** Whether invited people can create an account. */
export const isSignUpOpen = async (db: Database): Promise<boolean> => (await settingsOf(db)).signup_enabled;

/** @throws ApiError 400 with the reasons by field */
function checkAccount({ username, name, password }: NewAccount): void {
  const reasons = {
    username: usernameReasons(username),
    name: personNameReasons(name),
    password: passwordReasons(password),
  };
  const refused = Object.entries(reasons).filter(([, texts]) => texts.length > 0);
  if (refused.length > 0) throw invalid(Object.fromEntries(refused));
}

/**
 * Creates an account with the invited address, which the link confirms, and accepts the invitation.
 * @param tx a transaction
 * @returns the outcome, undefined if the invitation no longer exists, and the new user; no account is created if the
 * invitation is no longer valid
 * @throws ApiError 403 when sign-up is disabled, the address is not allowed or no seat is left; 400 and 409 for invalid
 * or taken values
 */
export async function signUp(
  tx: Database,
  invitation: OpenInvitation,
  account: NewAccount,
): Promise<{ outcome: Outcome | undefined; user_id?: number }> {
  const settings = await settingsOf(tx);
  if (!settings.signup_enabled) throw forbidden('Sign-up is disabled');
  const email = invitation.invite_email;
  const [refusal] = await emailRefusals(settings, [email]);
  if (refusal) throw forbidden('Email is not allowed for sign-up. Check with your administrator.');
  checkAccount(account);
  await lockedSource(tx, subtreeOf(invitation));
  // Read again under the lock, which every response and every change takes.
  const open = await invitationNumbered(tx, invitation.id);
  if (!open) return { outcome: undefined };
  const objection = await objectionTo(tx, open);
  if (objection) return { outcome: objection };
  if (!(await hasSeatsFor(tx, { user_ids: [], addresses: 1 }, open))) throw forbidden(noSeatsText({ access_level: 0 }));
  await endClaimsTo(tx, email);
  const user_id = await createUser(tx, { ...account, email, confirmed: true });
  return { outcome: await acceptInvitation(tx, open, user_id), user_id };
}
