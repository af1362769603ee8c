/** Ending the sessions that a SAML provider began, when somebody signs out there (docs/reference/sign_in_providers.md#saml). */
import { sql } from 'kysely';
import type { Database } from '../../../db/index.ts';
import type { Services } from '../../../http/index.ts';
import { type SamlProvider, samlLogouts } from '../../../identity_providers/index.ts';
import { digestOf, useAssertion } from './message_actions.ts';
import { failed } from './rules.ts';
import { refusing, surroundingsOf } from './sign_in_actions.ts';

/** Ends the sessions of a person that providers began since this one first signed them in under the name. */
async function endSessionsOf(db: Database, provider: string, name_id: string): Promise<void> {
  await db.transaction().execute(async (tx) => {
    await sql`
      with gone as (
        delete from saml_sessions where provider = ${provider} and name_digest = ${digestOf(name_id)}
        returning user_id, created_at)
      delete from web_sessions using gone
       where web_sessions.user_id = gone.user_id and web_sessions.created_at >= gone.created_at and 'fed' = any(methods)`.execute(
      tx,
    );
  });
}

/**
 * Signs somebody out whom a provider has signed out.
 * @returns where the browser brings the answer; undefined where the provider takes none
 * @throws SignInRefused
 */
export async function signOutByProvider(
  services: Services,
  provider: SamlProvider,
  given: { query: string } | { message: string },
  relay: string,
): Promise<URL | undefined> {
  const { samlLogout } = await samlLogouts();
  const at = await surroundingsOf(services);
  const { name_id, answer, ...request } = await refusing(provider, samlLogout(provider, at, given, relay));
  if (!(await useAssertion(services.db, provider.name, request)))
    throw failed(provider.label, 'logout was used before');
  await endSessionsOf(services.db, provider.name, name_id);
  return answer;
}

/** No session lasts longer. */
const longest_days = 90;

export async function forgetOldSamlSessions(db: Database): Promise<void> {
  await sql`
    delete from saml_sessions where created_at < now() - make_interval(days => ${sql.lit(longest_days)})`.execute(db);
}
