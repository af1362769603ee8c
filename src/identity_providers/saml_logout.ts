/** Single logout that begins at a SAML provider (docs/reference/sign_in_providers.md#saml). */
import { inflateRawSync } from 'node:zlib';
import type { Profile } from '@node-saml/node-saml';
import { ProviderError, type Surroundings, storable } from './definition.ts';
import type { SamlProvider } from './members.ts';
import { libraryFor } from './saml.ts';
import { checkLogout, checkSignature, signatureNamespace } from './saml_checks.ts';
import { samlPeer } from './saml_metadata.ts';
import { allIn, elementOf } from './xml.ts';

/** A request to sign somebody out. */
export interface SamlLogout {
  name_id: string;
  /** The id of the request, which counts once, and until when it would count. */
  id: string;
  ends_at: Date;
  /** Where the browser brings the answer; undefined where the provider takes none. */
  answer: URL | undefined;
}

const most_bytes = 256 * 1024;

/** The only value of a parameter of the query, as it was sent. */
function onlyParameter(tokens: readonly string[], name: string): string {
  const [token, ...more] = tokens.filter((each) => each.split('=')[0] === name);
  if (token === undefined || more.length > 0) throw new ProviderError(`${name} of a logout`);
  try {
    return decodeURIComponent(token.slice(name.length + 1).replaceAll('+', ' '));
  } catch {
    throw new ProviderError(`${name} of a logout`);
  }
}

const signatureMethods = ['rsa-sha256', 'rsa-sha384', 'rsa-sha512'].map(
  (name) => `http://www.w3.org/2001/04/xmldsig-more#${name}`,
);

/** The XML of a request in a query, whose parameters are what is signed. */
function inQuery(query: string): { xml: string; container: Record<string, string> } {
  const tokens = query.split('&');
  // The library looks for names anywhere in a token.
  if (tokens.some((token) => !/^(?:SAMLRequest|RelayState|SigAlg|Signature)=/.test(token)))
    throw new ProviderError('parameters of a logout');
  const names = ['SAMLRequest', 'SigAlg', 'Signature'];
  const container = Object.fromEntries(names.map((name) => [name, onlyParameter(tokens, name)]));
  if (!signatureMethods.includes(container.SigAlg!)) throw new ProviderError('signature method');
  const compressed = Buffer.from(container.SAMLRequest!, 'base64');
  try {
    return { xml: inflateRawSync(compressed, { maxOutputLength: most_bytes }).toString('utf8'), container };
  } catch {
    throw new ProviderError('compression');
  }
}

/**
 * Reads a request to sign somebody out.
 * @param given the query of the address, or `SAMLRequest` of a form
 * @throws ProviderError for one that the provider has not signed, that is over, or that is for another server
 */
export async function samlLogout(
  provider: SamlProvider,
  at: Surroundings,
  given: { query: string } | { message: string },
  relay: string,
): Promise<SamlLogout> {
  const peer = await samlPeer(provider, at);
  const library = libraryFor(provider, at.url, peer, undefined);
  const read = 'query' in given ? inQuery(given.query) : undefined;
  const xml = read?.xml ?? Buffer.from('message' in given ? given.message : '', 'base64').toString('utf8');
  const root = elementOf(xml);
  const { id, ends_at } = checkLogout(root, {
    callback: `${at.url}/users/auth/${provider.name}/slo`,
    entity_id: peer.entity_id,
    clock_skew_s: provider.clock_skew,
  });
  for (const each of allIn(root))
    if (each.namespace === signatureNamespace && each.name === 'Signature') checkSignature(each);
  let profile: Profile | null;
  try {
    const checked =
      'query' in given
        ? await library.validateRedirectAsync(read!.container, given.query)
        : await library.validatePostRequestAsync({ SAMLRequest: given.message });
    profile = checked.profile;
  } catch {
    throw new ProviderError('signature of a logout');
  }
  const name_id = storable(profile?.nameID.trim());
  if (name_id === undefined) throw new ProviderError('NameID of a logout');
  const answer =
    peer.slo_url === undefined
      ? undefined
      : new URL(await library.getLogoutResponseUrlAsync(profile!, relay, {}, true));
  return { name_id, id, ends_at, answer };
}
