/** Messages of SAML providers, which arrive from pages of theirs and without cookies (docs/reference/sign_in_providers.md#saml). */
import { sql } from 'kysely';
import { newTokenValue, refuseTooOften, tokenDigest } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import type { Services } from '../../../http/index.ts';

export interface ProviderMessage {
  response: string;
  /** Where a sign-in that began at the provider wants to go. */
  relay: string;
}

/** For how long a message waits for its browser. */
const waits_s = 60;
const limit = { name: 'provider_messages_from_address', most: 300, window_s: 600 };

/**
 * Keeps a message. It signs nobody in by itself: the cookie of the browser decides.
 * @returns the handle by which the browser fetches it
 * @throws ApiError 429
 */
export async function keepMessage(
  { db, secrets }: Services,
  address: string,
  provider: string,
  message: ProviderMessage,
): Promise<string> {
  await refuseTooOften(db, { ...limit, who: address });
  const handle = newTokenValue('');
  await sql`
    insert into provider_messages (handle_digest, provider, message)
    values (${tokenDigest(handle)}, ${provider}, ${secrets.seal('provider message', JSON.stringify(message))})`.execute(
    db,
  );
  return handle;
}

/** Takes a message. It counts once. @returns undefined without one */
export async function takeMessage(
  { db, secrets }: Services,
  provider: string,
  handle: string,
): Promise<ProviderMessage | undefined> {
  const { rows } = await sql<{ provider: string; message: Buffer; is_over: boolean }>`
    delete from provider_messages where handle_digest = ${tokenDigest(handle)}
    returning provider, message, created_at < now() - make_interval(secs => ${sql.lit(waits_s)}) as is_over`.execute(
    db,
  );
  const [kept] = rows;
  if (!kept || kept.is_over || kept.provider !== provider) return undefined;
  const text = secrets.unseal('provider message', kept.message);
  return text === undefined ? undefined : JSON.parse(text);
}

export const digestOf = (text: string) => sql`sha256(convert_to(${text}, 'UTF8'))`;

/** Records that a provider has signed somebody in, under the name that it has for them. */
export async function recordSamlSession(
  db: Database,
  provider: string,
  user_id: number,
  name_id: string,
): Promise<void> {
  await sql`
    insert into saml_sessions (provider, name_digest, user_id) values (${provider}, ${digestOf(name_id)}, ${user_id})`.execute(
    db,
  );
}

/** Uses up an assertion. @returns whether it had not signed anybody in before */
export async function useAssertion(
  db: Database,
  provider: string,
  { id, ends_at }: { id: string; ends_at: Date },
): Promise<boolean> {
  const { rows } = await sql`
    insert into used_assertions (provider, digest, ends_at)
    values (${provider}, ${digestOf(id)}, ${ends_at.toISOString()})
    on conflict do nothing returning digest`.execute(db);
  return rows.length > 0;
}

/** Forgets messages that nobody has fetched, and assertions that are over anyway. */
export async function forgetOldMessages(db: Database): Promise<void> {
  await sql`delete from provider_messages where created_at < now() - make_interval(secs => ${sql.lit(waits_s)})`.execute(
    db,
  );
  await sql`delete from used_assertions where ends_at < now()`.execute(db);
}
