/** Sending an event to a hook once, and recording the outcome (docs/reference/hooks.md#deliveries). */
import { sql } from 'kysely';
import type { Database } from '../../../db/index.ts';
import { installedVersion } from '../../../foundation/installation.ts';
import type { Services } from '../../../http/index.ts';
import { queueOf } from '../../../jobs/index.ts';
import { OutboundError, postTo } from '../../../outbound/index.ts';
import { type Trigger, triggers } from '../../instance/hook_events/index.ts';
import { mayBeLocal } from './actions.ts';
import { type HookRow, isDestination, unsealed } from './queries.ts';
import {
  checkLength,
  filledUrl,
  type HookSecrets,
  isSuccess,
  pauseAfter,
  pauseBefore,
  pauseOfStream,
  rendered,
  signatureOf,
  Unsendable,
} from './rules.ts';

/** The job that sends all deliveries that are due. */
export const sendDeliveries = queueOf('send_hook_deliveries', { input: {}, retries: 20 });

/**
 * Wakes the job that sends deliveries. One job sends them all, many in parallel.
 * @param tx the transaction that makes a delivery due
 * @param key requests with the same key are merged
 */
export const wake = (tx: Database, key: string, after_s?: number): Promise<void> =>
  sendDeliveries.enqueue(tx, {}, { key, queue: 'hook_deliveries', ...(after_s === undefined ? {} : { after_s }) });

type Sending = Pick<Services, 'db' | 'secrets' | 'url'>;

/** An event that is sent to a hook. */
export interface Outgoing {
  hook: HookRow;
  event_id: string;
  trigger: Trigger;
  body: string;
  /** The same for all attempts. */
  idempotency_key: string;
}

/** The outcome of an attempt, as columns of `hook_deliveries`. */
export interface Outcome {
  url: string;
  request_headers: Record<string, string>;
  response_status: number | null;
  response_headers: Record<string, string>;
  response_body: string;
  /** In seconds. */
  execution_duration: number;
  /** Whether a retry would have the same outcome. */
  is_final: boolean;
}

/** The timeout until the end of the response. */
const timeout_ms = 10_000;
/** The stored length of a response body. */
const response_bytes = 8192;

/** The headers of the server, under the names that v4 clients expect and under its own. */
function ownHeaders(
  { url }: Sending,
  { hook, trigger, event_id, idempotency_key, body }: Outgoing,
): Record<string, string> {
  const isSystem = hook.project_id === null && hook.group_id === null;
  const facts = {
    ...(isDestination(hook)
      ? { 'Audit-Event-Type': (JSON.parse(body) as { event_type: string }).event_type }
      : { Event: isSystem ? 'System Hook' : triggers[trigger].event }),
    'Webhook-UUID': idempotency_key,
    Instance: url,
    'Event-UUID': event_id,
  };
  const named = ['X-Gitlab-', 'X-Service-'].flatMap((prefix) =>
    Object.entries(facts).map(([name, value]) => [prefix + name, value]),
  );
  return {
    'Content-Type': 'application/json',
    'User-Agent': `Coppice/${installedVersion}`,
    'Idempotency-Key': idempotency_key,
    ...Object.fromEntries(named),
  };
}

function tokenHeaders(hook: HookRow, token: string): Record<string, string> {
  const name = isDestination(hook) ? 'Event-Streaming-Token' : 'Token';
  return { [`X-Gitlab-${name}`]: token, [`X-Service-${name}`]: token };
}

/** The headers of Standard Webhooks. */
function signedHeaders(signing_token: string, id: string, body: string): Record<string, string> {
  const timestamp_s = Math.floor(Date.now() / 1000);
  return {
    'webhook-id': id,
    'webhook-timestamp': String(timestamp_s),
    'webhook-signature': signatureOf(signing_token, { id, timestamp_s, body }),
  };
}

/** Merges headers; names that differ only in case are the same header, and the last value wins. */
function merged(...parts: readonly Record<string, string>[]): Record<string, string> {
  const all = new Map<string, readonly [string, string]>();
  for (const [name, value] of parts.flatMap((part) => Object.entries(part))) all.set(name.toLowerCase(), [name, value]);
  return Object.fromEntries(all.values());
}

const hidden = (headers: Record<string, string>) =>
  Object.fromEntries(Object.keys(headers).map((name) => [name, '[REDACTED]']));

/** The headers with and without the secrets: only the latter are stored. */
function headersFor(
  services: Sending,
  outgoing: Outgoing,
  { token, signing_token, custom_headers }: HookSecrets,
  body: string,
) {
  const shown = merged(
    ownHeaders(services, outgoing),
    signing_token === undefined ? {} : signedHeaders(signing_token, outgoing.idempotency_key, body),
  );
  const secret = token === undefined ? {} : tokenHeaders(outgoing.hook, token);
  return { sent: merged(custom_headers, secret, shown), kept: merged(hidden(custom_headers), hidden(secret), shown) };
}

/**
 * Sends an event to a hook. Every failure is an outcome.
 * @param signal aborts the attempt, which throws
 */
export async function attempt(services: Sending, outgoing: Outgoing, signal?: AbortSignal): Promise<Outcome> {
  const { hook } = outgoing;
  const startedAt = performance.now();
  let request_headers: Record<string, string> = {};
  const outcome = (
    response: Pick<Outcome, 'response_status' | 'response_headers' | 'response_body'>,
    is_final = false,
  ): Outcome => ({
    url: hook.url,
    request_headers,
    ...response,
    is_final,
    execution_duration: (performance.now() - startedAt) / 1000,
  });
  try {
    const secrets = unsealed(services.secrets, hook);
    if (secrets === undefined) throw new Unsendable('The secrets of the webhook cannot be decrypted. Set them again.');
    const template = hook.custom_webhook_template;
    const body = template ? rendered(template, JSON.parse(outgoing.body)) : outgoing.body;
    checkLength(body);
    const headers = headersFor(services, outgoing, secrets, body);
    request_headers = headers.kept;
    const may_be_local = await mayBeLocal(services.db, hook);
    const {
      status,
      headers: response_headers,
      body: response_body,
    } = await postTo({
      url: filledUrl(hook.url, secrets.url_variables),
      headers: headers.sent,
      body,
      may_be_local,
      verifies_tls: hook.enable_ssl_verification,
      timeout_ms,
      most_bytes: response_bytes,
      ...(signal ? { signal } : {}),
    });
    return outcome({ response_status: status, response_headers, response_body });
  } catch (error) {
    if (!(error instanceof OutboundError || error instanceof Unsendable)) throw error;
    const unsent = { response_status: null, response_headers: {}, response_body: error.message };
    return outcome(unsent, error instanceof Unsendable);
  }
}

/** The columns of a completed attempt. */
const columnsOfOutcome = ({ request_headers, response_headers, is_final: _, ...columns }: Outcome) => ({
  ...columns,
  request_headers: JSON.stringify(request_headers),
  response_headers: JSON.stringify(response_headers),
});

/**
 * Counts failures in a row, which disable the hook for a while or permanently; a success enables it.
 * @returns the number of seconds for which it is disabled; null: until a test succeeds
 */
async function countOutcome(tx: Database, hook_id: number, { response_status }: Outcome): Promise<number | null> {
  if (isSuccess(response_status)) {
    const recovered = tx.updateTable('hooks').set({ recent_failures: 0, disabled_until: null });
    await recovered
      .where('id', '=', hook_id)
      .where(({ or, eb }) => or([eb('recent_failures', '>', 0), eb('disabled_until', 'is not', null)]))
      .execute();
    return 0;
  }
  const failed = tx
    .updateTable('hooks')
    .set({ recent_failures: sql<number>`recent_failures + 1` })
    .where('id', '=', hook_id);
  const row = await failed.returning('recent_failures').executeTakeFirst();
  const pause_s = row ? pauseAfter(row.recent_failures) : 0;
  if (pause_s !== 0)
    await tx
      .updateTable('hooks')
      .set({ disabled_until: pause_s === null ? null : sql<string>`now() + make_interval(secs => ${pause_s})` })
      .where('id', '=', hook_id)
      .execute();
  return pause_s;
}

/**
 * @param pause_s as `countOutcome` returns it
 * @returns the seconds until a failed attempt is repeated; undefined if it is not
 */
function waitAfter(
  hook: HookRow,
  attempt: number,
  { is_final, response_status }: Outcome,
  pause_s: number | null,
): number | undefined {
  if (isDestination(hook)) return pauseOfStream(attempt);
  return is_final || pause_s === null ? undefined : pauseBefore(attempt, response_status);
}

/**
 * Records a due attempt, and schedules the next one.
 * @param tx a transaction of its own
 * @returns the seconds until the next delivery that this makes due; undefined if there is none
 */
export async function recordAttempt(
  tx: Database,
  { id, attempt: number, outgoing }: { id: number; attempt: number; outgoing: Outgoing },
  outcome: Outcome,
): Promise<number | undefined> {
  const done = tx
    .updateTable('hook_deliveries')
    .set({ ...columnsOfOutcome(outcome), due_at: null })
    .where('id', '=', id);
  // It was deleted with its hook.
  if (!(await done.returning('id').executeTakeFirst())) return undefined;
  const hook_id = outgoing.hook.id;
  const pause_s = await countOutcome(tx, hook_id, outcome);
  if (isSuccess(outcome.response_status)) return undefined;
  const wait_s = waitAfter(outgoing.hook, number, outcome, pause_s);
  if (wait_s === undefined) return pause_s || undefined;
  const { event_id, idempotency_key } = outgoing;
  const due_at = sql<string>`now() + make_interval(secs => ${wait_s})`;
  await tx
    .insertInto('hook_deliveries')
    .values({ hook_id, event_id, idempotency_key, attempt: number + 1, due_at })
    .execute();
  return pause_s === null ? undefined : Math.max(wait_s, pause_s);
}

/** An event with its body. */
interface NewEvent {
  trigger: Trigger;
  /** The kind of event; null if it has none. */
  event: string | null;
  body: string;
}

/**
 * Sends an event immediately at a user's request, and records the delivery.
 * @param event a stored event, or a new one
 */
export async function sendNow(services: Sending, hook: HookRow, event: { id: string } | NewEvent): Promise<Outcome> {
  const { db } = services;
  const { event_id, trigger, body } = 'id' in event ? await storedEvent(db, event.id) : await newEvent(db, hook, event);
  const idempotency_key = crypto.randomUUID();
  const outcome = await attempt(services, { hook, event_id, trigger, body, idempotency_key });
  await db.transaction().execute(async (tx) => {
    const row = { hook_id: hook.id, event_id, idempotency_key, ...columnsOfOutcome(outcome) };
    // Only if the hook and the event still exist.
    const { rows } = await sql`select from hooks where id = ${hook.id} for key share`.execute(tx);
    if (rows.length > 0) await tx.insertInto('hook_deliveries').values(row).execute();
    await countOutcome(tx, hook.id, outcome);
    // Deliveries that waited for a disabled hook can be sent now.
    if (isSuccess(outcome.response_status)) await wake(tx, 'new');
  });
  return outcome;
}

async function storedEvent(db: Database, id: string) {
  const event = db.selectFrom('hook_events').select(['id as event_id', 'trigger', 'body']).where('id', '=', id);
  const { trigger, body, event_id } = await event.executeTakeFirstOrThrow();
  return { event_id, trigger: trigger as Trigger, body: body! };
}

async function newEvent(db: Database, { project_id, group_id }: HookRow, { trigger, event, body }: NewEvent) {
  const is_system = project_id === null && group_id === null;
  const added = db.insertInto('hook_events').values({ trigger, is_system, event, body, hook_ids: [] });
  const { id } = await added.returning('id').executeTakeFirstOrThrow();
  return { event_id: id, trigger, body };
}
