/** Requests of users that a secondary forwards: its signature covers the address of the caller. */
import type { Services } from '../../../http/index.ts';
import { checkSecondary, linkKey } from './access.ts';
import type { Site } from './request_actions.ts';
import { announcementOf, digestOf, sign } from './signature_rules.ts';

/** A request as the secondary received it, and the address of the caller. */
export interface Passage {
  method: string;
  /** The path with the query. */
  path: string;
  address: string;
  /** The id of the SSH key that the caller has used, if any. */
  key_id?: number | undefined;
}

/** Signed instead of the body, which streams. */
const digestFor = ({ address, key_id }: Passage) =>
  digestOf(key_id === undefined ? `passed for ${address}` : `passed for ${address} with the SSH key ${key_id}`);

/**
 * @returns the value of `X-Geo-Signature`, signed with the secret key alone, so that users' requests do not wait for a
 * handshake
 */
export const signedPassage = (site: Site, passage: Passage): string =>
  sign(linkKey(site), site.geo.nodeName, { ...passage, digest: digestFor(passage) }, new Date());

/** @throws ApiError 401 if no secondary has signed the forwarded request */
export async function checkPassage(services: Services, passage: Passage & { signature: string }): Promise<void> {
  const headers = { authorization: passage.signature, 'content-digest': announcementOf(digestFor(passage)) };
  await checkSecondary(services, { method: passage.method, path: passage.path, headers });
}
