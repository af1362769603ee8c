/** Accounts that people create for themselves (docs/reference/sessions.md#signing-up). */
import { type Device, refuseTooOften } from '../../../access/index.ts';
import { type Database, repeated } from '../../../db/index.ts';
import { forbidden, invalid, type Services } from '../../../http/index.ts';
import { emailRefusals, settingsOf } from '../../instance/application_settings/index.ts';
import { isTaken } from '../emails/claim_actions.ts';
import { emailReasons, storedEmail } from '../emails/rules.ts';
import { usernameReasons } from '../namespaces/rules.ts';
import { createUser } from '../users/actions.ts';
import { passwordReasons, personNameReasons } from '../users/rules.ts';
import { sendPasswordLink } from './jobs.ts';

/** How many accounts a client may ask for. */
const limit = { name: 'sign_ups_from_address', most: 10, window_s: 3600 };

export interface SignUp {
  name: string;
  username: string;
  email: string;
  password: string;
}

/** What people are told of signing up: whether they can, and whether an administrator has to approve them. */
export async function signUpRules(db: Database): Promise<{ is_open: boolean; needs_approval: boolean }> {
  const settings = await settingsOf(db);
  return { is_open: settings.signup_enabled, needs_approval: settings.require_admin_approval_after_user_signup };
}

/** @throws ApiError 400 with the reasons by field */
async function checkAccount(db: Database, { name, username, email, password }: SignUp): Promise<void> {
  const [refusal] = await emailRefusals(await settingsOf(db), [email]);
  const reasons = {
    name: personNameReasons(name),
    username: usernameReasons(username),
    email: [...emailReasons(email), ...(refusal ? ['is not allowed for sign-up'] : [])],
    password: passwordReasons(password),
  };
  const refused = Object.entries(reasons).filter(([, texts]) => texts.length > 0);
  if (refused.length > 0) throw invalid(Object.fromEntries(refused));
}

/**
 * Creates an account, whose address gets a link to confirm it. If the address has an account, that one gets a link to choose a password instead, and the answer is the
 * same, so that nobody learns who has an account.
 * @throws ApiError 403 while nobody can sign up, 400 by field, 409 for a taken username, 429
 */
export async function signUp({ db }: Services, account: SignUp, { address }: Device): Promise<void> {
  const { is_open, needs_approval } = await signUpRules(db);
  if (!is_open) throw forbidden('Sign-up is disabled');
  await checkAccount(db, account);
  await refuseTooOften(db, { ...limit, who: address });
  const email = storedEmail(account.email);
  await repeated(db, async (tx) => {
    const { is_taken } = await tx.selectNoFrom(isTaken(email, null).as('is_taken')).executeTakeFirstOrThrow();
    if (is_taken) return sendPasswordLink.enqueue(tx, { email });
    const id = await createUser(tx, { ...account, confirmed: false });
    if (needs_approval)
      await tx.updateTable('users').set({ state: 'blocked_pending_approval' }).where('id', '=', id).execute();
  });
}
