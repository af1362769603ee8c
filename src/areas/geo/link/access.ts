/** Which secondary sent a request: those below `/api/v4/geo/` are signed, and nothing else opens them (docs/reference/geo.md#signature). */
import type { IncomingHttpHeaders } from 'node:http';
import { sql } from 'kysely';
import { ApiError, type Services } from '../../../http/index.ts';
import type { LinkedNode } from './definition.ts';
import { announcedDigest, isSignedWith, readSignature, type Signature, secondsAhead, tolerance_s } from './signature_rules.ts';

/** Why a request is refused, for the site that sent it. */
export type LinkRefusal = 'signature' | 'clock' | 'replay' | 'node' | 'disabled' | 'primary' | 'role';

const refused = (reason: LinkRefusal, sentence: string) =>
  new ApiError(401, { message: `401 Unauthorized - ${sentence}`, reason });

/** The head of a request, which may not have come through the router. */
export interface RequestHead {
  method: string;
  /** As it was received, with the query. */
  path: string;
  headers: IncomingHttpHeaders;
}

/** The key of the signatures of all sites. */
export const linkKey = ({ secrets }: Pick<Services, 'secrets'>): Buffer => secrets.keyFor('geo');

function checkTime(signature: Signature): void {
  const now = new Date();
  if (Math.abs(secondsAhead(signature, now)) <= tolerance_s) return;
  const there = new Date(signature.seconds * 1000);
  throw refused('clock', `It is ${now.toISOString()} here and ${there.toISOString()} there.`);
}

/** Remembers a nonce, and forgets a few that no signature can use any more. */
async function useOnce({ db }: Pick<Services, 'db'>, { nonce }: Signature): Promise<void> {
  const { rows } = await sql`
    with forgotten as (
      delete from geo_nonces where nonce in (
        select nonce from geo_nonces where seen_at < now() - make_interval(secs => ${3 * tolerance_s})
         order by seen_at limit 10 for update skip locked)
    )
    insert into geo_nonces (nonce) values (${Buffer.from(nonce, 'hex')}) on conflict do nothing returning nonce`.execute(db);
  if (rows.length === 0) throw refused('replay', 'The signature was used before.');
}

/**
 * Checks that a site of the installation has signed a request to its primary, whatever node it is.
 * @returns the signature, and the SHA-256 of the body in hex
 * @throws ApiError 401, with a reason only for those who know the key
 */
export async function checkSignature(services: Services, head: RequestHead): Promise<{ signature: Signature; digest: string }> {
  const { headers } = head;
  const signature = readSignature(headers.authorization);
  const digest = announcedDigest(headers['content-digest'] as string | undefined);
  if (!signature || digest === undefined) throw refused('signature', 'The request is not signed.');
  checkTime(signature);
  if (!isSignedWith(linkKey(services), { ...head, digest }, signature)) throw refused('signature', 'The signature is wrong.');
  if (services.geo.role !== 'primary') throw refused('role', 'This server is not a primary.');
  await useOnce(services, signature);
  return { signature, digest };
}

/**
 * The secondary that signed a request, whose body has yet to be compared with the digest.
 * @returns the node, and the SHA-256 of the body in hex
 * @throws ApiError 401, with a reason only for those who know the key
 */
export async function signedBy(services: Services, head: RequestHead): Promise<{ node: LinkedNode; digest: string }> {
  const { signature, digest } = await checkSignature(services, head);
  const node = await services.db.selectFrom('geo_nodes').selectAll().where('name', '=', signature.node).executeTakeFirst();
  if (!node) throw refused('node', `The primary does not know the node ${signature.node}.`);
  if (node.primary) throw refused('primary', 'The primary does not ask itself.');
  if (!node.enabled) throw refused('disabled', 'The node is disabled.');
  return { node, digest };
}
