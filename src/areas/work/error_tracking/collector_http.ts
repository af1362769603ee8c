/** The collector: where SDKs send envelopes and events (docs/reference/error_tracking.md). */

import type { Readable } from 'node:stream';
import { inflateSync } from 'node:zlib';
import {
  ApiError,
  type Caller,
  type DoorCall,
  type Doorway,
  door,
  type ErrorForm,
  jsonForm,
  type Services,
} from '../../../http/index.ts';
import { BodyTooLarge, decompress } from './encoding_rules.ts';
import { type Item, ItemTooLarge, jsonIn, Malformed, readEnvelope } from './envelope_rules.ts';
import { eventId, instantOf, readEvent } from './event_rules.ts';
import { OverQuota, storeEvent } from './intake_actions.ts';
import { type Intake, intakeOf } from './intake_queries.ts';
import type { Json, JsonObject } from './payload_rules.ts';
import { keyIn, keyInDsn } from './sender_rules.ts';

const mebibyte = 2 ** 20;
const envelopeLimits = { sent_bytes: 20 * mebibyte, read_bytes: 100 * mebibyte };
/** Of bodies that say only inside whose they are. */
const unidentifiedLimits = { sent_bytes: mebibyte, read_bytes: mebibyte };
const storeLimits = { sent_bytes: 200 * 1024, read_bytes: mebibyte };
const event_bytes = mebibyte;

interface Addressed {
  Params: { project_id: string };
  Querystring: Record<string, unknown>;
}
type Call = DoorCall<Caller, Addressed>;

/** What SDKs send and nothing is made of: with the reply they learn to keep it. */
const unsupported =
  '3600:transaction;profile;profile_chunk;replay;span;log_item;log_byte;trace_metric;metric_bucket;monitor;attachment:project:unsupported';

const refusal = (status: number, message: string) => new ApiError(status, { message });
const badRequest = (detail: string) => refusal(400, `400 Bad request - ${detail}`);
const unsupportedPayload = () => badRequest('Unsupported sentry payload');
const wrongKey = () => refusal(404, '404 Not Found');
const overQuota = (now: number) => {
  const wait_s = 60 - (Math.floor(now / 1000) % 60);
  return new ApiError(
    429,
    { message: 'This endpoint has been requested too many times. Try again later.' },
    { 'retry-after': String(wait_s), 'x-sentry-rate-limits': `${wait_s}:error;default:project:quota` },
  );
};

/** @throws ApiError 404 for a project that takes no errors */
async function openIntake({ db }: Services, id: string): Promise<Intake> {
  const intake = /^\d{1,15}$/.test(id) ? await intakeOf(db, Number(id)) : undefined;
  if (intake === undefined) throw refusal(404, '404 Project Not Found');
  if (!intake.isOpen) throw wrongKey();
  return intake;
}

function checkKey(intake: Intake, key: string | undefined): void {
  if (key === undefined) throw new ApiError(403, { message: '403 Forbidden', detail: 'invalid client key' });
  if (!intake.keys.has(key)) throw wrongKey();
}

const bodyOf = ({ request }: Call): Readable => request.raw;
const encodingOf = ({ request }: Call): string | undefined => request.headers['content-encoding'];

const accepted = ({ reply }: Call, id: string | undefined) =>
  reply
    .headers({ 'content-type': 'application/json', 'x-sentry-rate-limits': unsupported })
    .send(Buffer.from(JSON.stringify(id === undefined ? {} : { id })));

/** Reads and stores an event. @returns its id */
async function take(
  call: Call,
  intake: Intake,
  event: Json,
  more: { event_id?: string | undefined; sent_at?: Date | undefined } = {},
): Promise<string> {
  const received_at = new Date();
  const read = readEvent(event, {
    received_at,
    event_id: more.event_id,
    clock_offset_ms: more.sent_at && more.sent_at.getTime() - received_at.getTime(),
    sender: call.request.ip,
    user_salt: intake.user_salt,
  });
  if (read === undefined) throw unsupportedPayload();
  await storeEvent(call.services.db, intake, read);
  return read.event_id;
}

async function takeEnvelope(call: Call) {
  const { services, request } = call;
  const intake = await openIntake(services, request.params.project_id);
  const key = keyIn(request.headers, request.query);
  if (key !== undefined) checkKey(intake, key);
  let head: JsonObject = {};
  const chunks = decompress(bodyOf(call), encodingOf(call), key === undefined ? unidentifiedLimits : envelopeLimits);
  const items = await readEnvelope(chunks, {
    onHead(read) {
      head = read;
      const inHead = typeof read.dsn === 'string' ? keyInDsn(read.dsn) : undefined;
      if (key !== undefined && inHead !== undefined && inHead !== key) throw new Malformed();
      checkKey(intake, key ?? inHead);
    },
    limitOf: (type) => (type === 'event' ? event_bytes : 0),
  });
  const [item, another] = items;
  if (another !== undefined) throw badRequest('Failed to parse sentry request');
  if (item === undefined) return accepted(call, undefined);
  return accepted(call, await takeItem(call, intake, item, head));
}

const takeItem = (call: Call, intake: Intake, item: Item, head: JsonObject): Promise<string> =>
  take(call, intake, jsonIn(item), { event_id: eventId(head.event_id), sent_at: instantOf(head.sent_at) });

/** Old SDKs send Base64 of compressed JSON, whatever their headers say. */
function textIn(body: Buffer): string {
  const text = body.toString();
  if (text.trimStart().startsWith('{')) return text;
  try {
    return inflateSync(Buffer.from(text, 'base64'), { maxOutputLength: storeLimits.read_bytes }).toString();
  } catch (error) {
    throw (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE' ? new BodyTooLarge() : new Malformed();
  }
}

async function takeStored(call: Call) {
  const { services, request } = call;
  const intake = await openIntake(services, request.params.project_id);
  checkKey(intake, keyIn(request.headers, request.query));
  const chunks = await Array.fromAsync(decompress(bodyOf(call), encodingOf(call), storeLimits));
  const payload = Buffer.from(textIn(Buffer.concat(chunks)));
  return accepted(call, await take(call, intake, jsonIn({ type: 'event', payload })));
}

/** Refusals say in a header what they say in the body, because SDKs log that. */
const collectorForm: ErrorForm = {
  meaningOf(error) {
    if (error instanceof Malformed) return badRequest('Failed to parse sentry request');
    if (error instanceof BodyTooLarge || error instanceof ItemTooLarge) return refusal(413, '413 Request Entity Too Large');
    return error instanceof OverQuota ? overQuota(Date.now()) : undefined;
  },
  write(refused, request, reply) {
    const { message, detail = String(message).replace(/^\d+ (Bad request - )?/, '') } = refused.body;
    const body = { ...refused.body, ...(refused.status < 500 ? { detail } : {}) };
    reply.header('x-sentry-error', String(detail));
    return jsonForm.write(new ApiError(refused.status, body, refused.headers), request, reply);
  },
};

const collectorHeaders = {
  'access-control-expose-headers': 'x-sentry-error,x-sentry-rate-limits,retry-after',
};

const root = '/api/v4/error_tracking/collector/api/:project_id';
const collecting = (url: string, handle: (call: Call) => Promise<unknown>) =>
  door<Caller, Addressed>({
    method: 'POST',
    url,
    handle(call) {
      call.reply.headers(collectorHeaders);
      return handle(call);
    },
  });

export const collectorDoorway: Doorway = {
  doors: [collecting(`${root}/envelope`, takeEnvelope), collecting(`${root}/store`, takeStored)],
  errors: () => collectorForm,
  bodies: 'stream',
};
