/** The collector: receives envelopes and events of SDKs (docs/reference/error_tracking.md). */

import { Readable } from 'node:stream';
import { tooOften } from '../../../../access/index.ts';
import {
  ApiError,
  type Caller,
  type DescribedDoor,
  type DoorCall,
  type Doorway,
  door,
  type ErrorForm,
  jsonForm,
  messageOf,
  streamOf,
} from '../../../../http/index.ts';
import { eventId, instantOf, type Receipt, readEvent } from '../events/rules.ts';
import type { Json, JsonObject } from '../payload/rules.ts';
import { maximumSessions, readBuckets, readSession, readUserReport } from '../releases_health/session_rules.ts';
import { BodyTooLarge, decompress } from './encoding_rules.ts';
import {
  type Item,
  type ItemLimit,
  ItemTooLarge,
  jsonIfAny,
  jsonIn,
  Malformed,
  readEnvelope,
} from './envelope_rules.ts';
import { type IntakeGuard, type IntakeLimits, intakeGuard } from './guard_queries.ts';
import { countRead, hasExceeded, OverQuota, type Received, storeReceived } from './intake_actions.ts';
import { type Intake, intakeOf } from './intake_queries.ts';
import { Refusals } from './refusal_rules.ts';
import { keyIn, keyInDsn } from './sender_rules.ts';

const mebibyte = 2 ** 20;
const envelopeLimits = { sent_bytes: 20 * mebibyte, read_bytes: 100 * mebibyte };
/** Limits for bodies whose client key is only inside the body. */
const unidentifiedLimits = { sent_bytes: mebibyte, read_bytes: mebibyte };
const storeLimits = { sent_bytes: 200 * 1024, read_bytes: mebibyte };
const event_bytes = mebibyte;
/** Items that are not about an event never cause an error: larger ones are skipped. */
const otherItems_bytes: Record<string, number> = { session: 16 * 1024, sessions: 128 * 1024, user_report: 64 * 1024 };

interface Addressed {
  Params: { project_id: string };
  Querystring: Record<string, unknown>;
}
type Call = DoorCall<Caller, Addressed> & { guard: IntakeGuard; refusals: Refusals };

/** Item types that are discarded; the reply tells SDKs to stop sending them. */
const unsupported =
  '3600:transaction;profile;profile_chunk;replay;span;log_item;log_byte;trace_metric;metric_bucket;monitor;attachment:project:unsupported';

const refusal = (status: number, message: string) => new ApiError(status, { message });
const badRequest = (detail: string) => refusal(400, `400 Bad request - ${detail}`);
const unsupportedPayload = () => badRequest('Unsupported sentry payload');
const wrongKey = () => refusal(404, '404 Not Found');
const overQuota = (now: number) => {
  const wait_s = 60 - (Math.floor(now / 1000) % 60);
  return tooOften(wait_s, { 'x-sentry-rate-limits': `${wait_s}:error;default;session:project:quota` });
};

const full = () =>
  new ApiError(
    429,
    { message: '429 Too Many Requests', detail: 'the server takes no errors at the moment' },
    { 'retry-after': '60', 'x-sentry-rate-limits': '60:error;default;session:organization:intake' },
  );

/**
 * The cached state of a project, or its current state if the cached one would refuse a client that is seldom refused: a key may have been added a moment ago.
 * @param takes a condition on the state
 * @returns undefined if the project does not exist
 */
async function intakeThat(call: Call, id: number, takes: (intake: Intake) => boolean): Promise<Intake | undefined> {
  const { services, request, refusals } = call;
  const known = await intakeOf(services.db, id);
  if ((known && takes(known)) || !refusals.areFew(request.ip, performance.now())) return known;
  return intakeOf(services.db, id, true);
}

/** @throws ApiError 404 if the project does not accept errors */
async function openIntake(call: Call): Promise<Intake> {
  const { project_id } = call.request.params;
  const intake = /^\d{1,15}$/.test(project_id)
    ? await intakeThat(call, Number(project_id), ({ isOpen }) => isOpen)
    : undefined;
  if (intake === undefined) throw refusal(404, '404 Project Not Found');
  if (!intake.isOpen) throw wrongKey();
  return intake;
}

/**
 * Authenticates a client. Decides everything that does not need the body before the body is read.
 * @returns its key
 */
async function admit(call: Call, { project_id }: Intake, key: string | undefined): Promise<string> {
  const { guard, services } = call;
  if (key === undefined) throw new ApiError(403, { message: '403 Forbidden', detail: 'invalid client key' });
  const intake = await intakeThat(call, project_id, ({ keys }) => keys.has(key));
  if (!intake?.keys.has(key)) throw wrongKey();
  if (hasExceeded(services.db, intake, key)) throw new OverQuota();
  if (await guard.isFull(services.db)) throw full();
  return key;
}

const encodingOf = ({ request }: Call): string | undefined => request.headers['content-encoding'];

const accepted = ({ reply }: Call, id: string | undefined) =>
  reply
    .headers({ 'content-type': 'application/json', 'x-sentry-rate-limits': unsupported })
    .send(Buffer.from(JSON.stringify(id === undefined ? {} : { id })));

/** @throws ApiError 400 for an event without an exception or a message */
function eventIn(call: Call, intake: Intake, event: Json, { received_at, clock_offset_ms }: Moment, id?: string) {
  const read = readEvent(event, {
    received_at,
    event_id: id,
    clock_offset_ms,
    sender: call.request.ip,
    user_salt: intake.user_salt,
  });
  if (read === undefined) throw unsupportedPayload();
  return read;
}

type Moment = Pick<Receipt, 'received_at' | 'clock_offset_ms'>;

async function keep(call: Call, intake: Intake, key: string, received: Received) {
  await storeReceived(call.services.db, intake, key, received);
  if (received.event) call.guard.count();
  return accepted(call, received.event?.event_id);
}

/**
 * Limits of items: exactly one event is required, and other items are limited in number.
 * @throws Malformed for a second event, and for a transaction together with an event
 */
function limitsOfItems() {
  let others = 0;
  const exclusive = new Set<string>();
  return (type: string): ItemLimit => {
    if (type === 'event' || type === 'transaction') {
      if (exclusive.has('event') || (type === 'event' && exclusive.has('transaction'))) throw new Malformed();
      exclusive.add(type);
    }
    if (type === 'event') return { bytes: event_bytes };
    const bytes = Object.hasOwn(otherItems_bytes, type) ? otherItems_bytes[type]! : 0;
    if (bytes > 0) others += 1;
    return { bytes: others > maximumSessions ? 0 : bytes, skipsLarger: true };
  };
}

/**
 * Counts bytes of a body against the quotas of a project and of the client's key.
 * @param keyNow returns undefined until the client has sent its key
 */
async function* counted(
  call: Call,
  intake: Intake,
  chunks: AsyncIterable<Buffer>,
  keyNow: () => string | undefined,
): AsyncGenerator<Buffer> {
  for await (const chunk of chunks) {
    const key = keyNow();
    if (key !== undefined) countRead(call.services.db, intake, key, chunk.length);
    yield chunk;
  }
}

async function takeEnvelope(call: Call) {
  const { request } = call;
  const intake = await openIntake(call);
  const given = keyIn(request.headers, request.query);
  let key = given === undefined ? undefined : await admit(call, intake, given);
  let head: JsonObject = {};
  const chunks = decompress(
    streamOf(request),
    encodingOf(call),
    key === undefined ? unidentifiedLimits : envelopeLimits,
  );
  const items = await readEnvelope(
    counted(call, intake, chunks, () => key),
    {
      async onHead(read) {
        head = read;
        const inHead = typeof read.dsn === 'string' ? keyInDsn(read.dsn) : undefined;
        if (key !== undefined && inHead !== undefined && inHead !== key) throw new Malformed();
        key ??= await admit(call, intake, inHead);
      },
      limitOf: limitsOfItems(),
    },
  );
  const received_at = new Date();
  const sent_at = instantOf(head.sent_at);
  const moment = { received_at, clock_offset_ms: sent_at && sent_at.getTime() - received_at.getTime() };
  const item = items.find(({ type }) => type === 'event');
  const event = item && eventIn(call, intake, jsonIn(item), moment, eventId(head.event_id));
  const received = { ...othersIn(items, { ...moment, user_salt: intake.user_salt }), ...(event ? { event } : {}) };
  return keep(call, intake, key!, received); // The header has been read.
}

/** Parses the items that are not events. Items that are invalid JSON or irrelevant are dropped. */
function othersIn(items: readonly Item[], receipt: Moment & Pick<Receipt, 'user_salt'>): Received {
  const read = (wanted: string): Json[] =>
    items.flatMap((item) => {
      const json = item.type === wanted ? jsonIfAny(item) : undefined;
      return json === undefined ? [] : [json];
    });
  return {
    sessions: read('session').flatMap((json) => readSession(json, receipt) ?? []),
    buckets: read('sessions').flatMap((json) => readBuckets(json, receipt)),
    user_reports: read('user_report').flatMap((json) => readUserReport(json, receipt) ?? []),
  };
}

async function takeStored(call: Call) {
  const { request } = call;
  const intake = await openIntake(call);
  const key = await admit(call, intake, keyIn(request.headers, request.query));
  const read = async (body: Readable, encoding: string | undefined) =>
    Buffer.concat(await Array.fromAsync(counted(call, intake, decompress(body, encoding, storeLimits), () => key)));
  const body = await read(streamOf(request), encodingOf(call));
  const text = body.toString();
  // Old SDKs send Base64 of compressed JSON, whatever their headers claim.
  const payload = text.trimStart().startsWith('{')
    ? body
    : await read(Readable.from([Buffer.from(text, 'base64')]), 'deflate');
  const event = eventIn(call, intake, jsonIn({ type: 'event', payload }), { received_at: new Date() });
  return keep(call, intake, key, { event, sessions: [], buckets: [], user_reports: [] });
}

/** Delays the reply, and gives the slot of this request to other requests meanwhile. */
async function hold(request: Call['request'], pause_ms: number): Promise<void> {
  request.slot?.pause();
  await request.server.hold(request, pause_ms);
  request.slot?.resume();
}

/** Whether a request was refused because its client has no key of the project. */
const isOfStranger = (error: unknown) => error instanceof ApiError && (error.status === 403 || error.status === 404);

/** Refusals repeat their reason in a header, because SDKs log that. */
const collectorForm: ErrorForm = {
  meaningOf(error) {
    if (error instanceof Malformed) return badRequest('Failed to parse sentry request');
    if (error instanceof BodyTooLarge || error instanceof ItemTooLarge)
      return refusal(413, '413 Request Entity Too Large');
    return error instanceof OverQuota ? overQuota(Date.now()) : undefined;
  },
  write(refused, request, reply) {
    const { detail = messageOf(refused).replace(/^Bad request - /, '') } = refused.body;
    const body = { ...refused.body, ...(refused.status < 500 ? { detail } : {}) };
    reply.header('x-sentry-error', String(detail));
    return jsonForm.write(new ApiError(refused.status, body, refused.headers), request, reply);
  },
};

const collectorHeaders = {
  'access-control-expose-headers': 'x-sentry-error,x-sentry-rate-limits,retry-after',
};

const root = '/error_tracking/collector/api/:project_id';
const described = {
  tag: 'Error tracking',
  offerings: ['hosted'],
  responses: {
    200: 'It is stored: `id` is that of the event; without an event an empty object',
    400: '`400 Bad request - Failed to parse sentry request`; `400 Bad request - Unsupported sentry payload`',
    403: '`403 Forbidden`: there is no client key',
    404: '`404 Project Not Found`; `404 Not Found`: the project takes no errors, or the client key is none of its own',
    408: 'The body did not arrive in time',
    413: '`413 Request Entity Too Large`',
    429: 'The project has sent as many events in this minute as it may, or the server takes no errors at the moment',
  },
} as const;
const keyText = 'The client key is in `X-Sentry-Auth`, in the query as `sentry_key`';

/** The documentation of the endpoints. */
export const collectorDoors = [
  {
    method: 'POST',
    path: `${root}/envelope`,
    description: {
      ...described,
      operation: 'sendErrorTrackingEnvelope',
      summary: 'Send events, sessions and user reports from Sentry SDKs',
      description: `${keyText} or in the head of the envelope. Other items are accepted and not kept. The body can be compressed.`,
      body_types: ['application/x-sentry-envelope'],
    },
  },
  {
    method: 'POST',
    path: `${root}/store`,
    description: {
      ...described,
      operation: 'storeErrorTrackingEvent',
      summary: 'Send one event from an old Sentry SDK',
      description: `${keyText}. The body can be compressed.`,
      body_types: ['application/json'],
    },
  },
] as const satisfies readonly DescribedDoor[];
const takers = [takeEnvelope, takeStored];

/**
 * The HTTP endpoints of the collector.
 * @param limits nothing is accepted beyond them
 */
export function collectorDoorway(limits: IntakeLimits): Doorway {
  const guard = intakeGuard(limits);
  const refusals = new Refusals();
  return {
    cost: 'usual',
    doors: collectorDoors.map(({ method, path }, index) =>
      door<Caller, Addressed>({
        method,
        url: `/api/v4${path}`,
        async handle(call) {
          call.reply.headers(collectorHeaders);
          try {
            return await takers[index]!({ ...call, guard, refusals });
          } catch (error) {
            const pause_ms = isOfStranger(error) ? refusals.pauseFor(call.request.ip, performance.now()) : 0;
            if (pause_ms > 0) await hold(call.request, pause_ms);
            throw error;
          }
        },
      }),
    ),
    errors: () => collectorForm,
    bodies: 'stream',
    prepare(app) {
      // The content type is irrelevant here, so an invalid one must not be refused.
      app.addHook('onRequest', ({ raw }, _reply, done) => {
        delete raw.headers['content-type'];
        done();
      });
    },
  };
}
