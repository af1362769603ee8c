/**
 * Authentication of secondaries: requests below `/api/v4/geo/` must be signed, and no other credential is accepted
 * (docs/reference/geo.md#signature).
 */
import { createHmac } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { sql } from 'kysely';
import { ApiError, type Services } from '../../../http/index.ts';
import { credentialOf } from './credential_rules.ts';
import type { LinkedNode } from './definition.ts';
import {
  announcedDigest,
  isSignedWith,
  needsCredential,
  readSignature,
  type Signature,
  secondsAhead,
  tolerance_s,
} from './signature_rules.ts';

/** Why a request is refused, for the site that sent it. */
export type LinkRefusal = 'signature' | 'clock' | 'replay' | 'node' | 'disabled' | 'primary' | 'role' | 'credential';

const refused = (reason: LinkRefusal, sentence: string) =>
  new ApiError(401, { message: `401 Unauthorized - ${sentence}`, reason });

/** The head of a request, which may have bypassed the router. */
export interface RequestHead {
  method: string;
  /** The path as received, with the query. */
  path: string;
  headers: IncomingHttpHeaders;
}

/** The key that all sites share: for requests before the handshake, and for forwarded requests of users. */
export const linkKey = ({ secrets }: Pick<Services, 'secrets'>): Buffer => secrets.keyFor('geo');

/** The key of one secondary. */
export const keyWith = (site: Pick<Services, 'secrets'>, credential: string): Buffer =>
  createHmac('sha256', linkKey(site)).update(credential).digest();

/** The signature in the headers of a request, if its time is valid, and the SHA-256 of the body in hex. */
function announced({ headers }: RequestHead): { signature: Signature; digest: string } {
  const signature = readSignature(headers.authorization);
  const digest = announcedDigest(headers['content-digest'] as string | undefined);
  if (!signature || digest === undefined) throw refused('signature', 'The request is not signed.');
  checkTime(signature);
  return { signature, digest };
}

function checkTime(signature: Signature): void {
  const now = new Date();
  if (Math.abs(secondsAhead(signature, now)) <= tolerance_s) return;
  const there = new Date(signature.seconds * 1000);
  throw refused('clock', `It is ${now.toISOString()} here and ${there.toISOString()} there.`);
}

/** Records a nonce, and deletes a few that no valid signature can use any more. */
async function useOnce({ db }: Pick<Services, 'db'>, { nonce }: Signature): Promise<void> {
  const { rows } = await sql`
    with forgotten as (
      delete from geo_nonces where nonce in (
        select nonce from geo_nonces where seen_at < now() - make_interval(secs => ${3 * tolerance_s})
         order by seen_at limit 10 for update skip locked)
    )
    insert into geo_nonces (nonce) values (${Buffer.from(nonce, 'hex')}) on conflict do nothing returning nonce`.execute(
    db,
  );
  if (rows.length === 0) throw refused('replay', 'The signature was used before.');
}

/** @throws ApiError 401 for a signature that was used before, and on a server that is not a primary */
async function accept(services: Services, signature: Signature): Promise<void> {
  if (services.geo.role !== 'primary') throw refused('role', 'This server is not a primary.');
  await useOnce(services, signature);
}

const wrong = () => refused('signature', 'The signature is wrong.');

/**
 * Checks that a site of the installation has signed a request to its primary with the secret key alone, whatever its
 * node.
 * @throws ApiError 401, with a reason only for senders that have the key
 */
export async function checkSignature(services: Services, head: RequestHead): Promise<Signature> {
  const { signature, digest } = announced(head);
  if (!isSignedWith(linkKey(services), { ...head, digest }, signature)) throw wrong();
  await accept(services, signature);
  return signature;
}

const nodeOf = ({ db }: Services, { node }: Signature): Promise<LinkedNode | undefined> =>
  db.selectFrom('geo_nodes').selectAll().where('name', '=', node).executeTakeFirst();

/** @throws ApiError 401 unless the node is an enabled secondary */
function checkNode(node: LinkedNode | undefined, { node: name }: Signature): LinkedNode {
  if (!node) throw refused('node', `The primary does not know the node ${name}.`);
  if (node.primary) throw refused('primary', 'The primary does not ask itself.');
  if (!node.enabled) throw refused('disabled', 'The node is disabled.');
  return node;
}

/**
 * Checks that an enabled secondary has signed with the secret key alone.
 * @throws ApiError 401
 */
export async function checkSecondary(services: Services, head: RequestHead): Promise<void> {
  const signature = await checkSignature(services, head);
  checkNode(await nodeOf(services, signature), signature);
}

/**
 * Identifies the secondary that signed a request. The body has yet to be compared with the digest.
 * @returns the node, and the SHA-256 of the body in hex
 * @throws ApiError 401, with a reason only for senders that have the key
 */
export async function signedBy(services: Services, head: RequestHead): Promise<{ node: LinkedNode; digest: string }> {
  const { signature, digest } = announced(head);
  const known = await nodeOf(services, signature);
  const credential = known && credentialOf(services.secrets, known);
  const isSigned = (key: Buffer) => isSignedWith(key, { ...head, digest }, signature);
  const hasCredential = credential !== undefined && isSigned(keyWith(services, credential));
  if (!hasCredential && !isSigned(linkKey(services))) throw wrong();
  await accept(services, signature);
  const node = checkNode(known, signature);
  if (!hasCredential && needsCredential(head.path)) throw refused('credential', 'The site has no valid credential.');
  return { node, digest };
}
