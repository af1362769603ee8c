/** SAML 2.0: sign-in with HTTP-Redirect there and HTTP-POST back (docs/reference/sign_in_providers.md#saml). */
import { randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import { SAML, type SamlConfig, ValidateInResponseTo } from '@node-saml/node-saml';
import { type DecryptOptions, decrypt } from 'xml-encryption';
import { soon } from './asking.ts';
import { callbackUrl, ProviderError, type Stated, type Surroundings, storable } from './definition.ts';
import type { SamlProvider } from './members.ts';
import { checkAssertion, checkResponse, checkSignatures, type Expected, statedIn } from './saml_checks.ts';
import { type SamlPeer, samlPeer } from './saml_metadata.ts';
import { allIn, elementOf } from './xml.ts';

/** What a sign-in has to match when it comes back. */
export interface SamlRound {
  request_id: string;
}

/** What a provider has stated, and what keeps it from being stated again. */
export interface SamlStated extends Stated {
  assertion: { id: string; ends_at: Date };
  /** By which the provider names the person when they sign out there. */
  name_id: string | undefined;
}

const nameOf = ({ sp_entity_id }: SamlProvider, url: string): string => sp_entity_id ?? url;
const decrypted = promisify<string, DecryptOptions, string>(decrypt as never);

/** The library for one message, or for several of which none answers a request. @param request_id the only request that the message may answer */
export function libraryFor(provider: SamlProvider, url: string, peer: SamlPeer, request_id: string | undefined): SAML {
  const { private_key, want_assertions_signed, clock_skew } = provider;
  const known = { value: new Date().toISOString(), createdAt: Date.now() };
  const isKnown = (id: string | null) => id !== null && id === request_id;
  const options: SamlConfig = {
    idpCert: peer.certificates,
    issuer: nameOf(provider, url),
    audience: nameOf(provider, url),
    callbackUrl: callbackUrl(url, provider.name),
    entryPoint: peer.sso_url,
    ...(peer.slo_url === undefined ? {} : { logoutUrl: peer.slo_url }),
    logoutCallbackUrl: `${url}/users/auth/${provider.name}/slo`,
    wantAssertionsSigned: want_assertions_signed,
    wantAuthnResponseSigned: false,
    acceptedClockSkewMs: clock_skew * 1000,
    identifierFormat: null,
    disableRequestedAuthnContext: true,
    signatureAlgorithm: 'sha256',
    digestAlgorithm: 'sha256',
    validateInResponseTo: request_id === undefined ? ValidateInResponseTo.ifPresent : ValidateInResponseTo.always,
    // Which request this browser has sent is in the database, where it counts once.
    cacheProvider: {
      saveAsync: async () => known,
      getAsync: async (id) => (isKnown(id) ? known.value : null),
      removeAsync: async (id) => id,
    },
    ...(request_id === undefined ? {} : { generateUniqueId: () => request_id }),
    ...(private_key === undefined ? {} : { privateKey: private_key, decryptionPvk: private_key }),
  };
  return new SAML(options);
}

/**
 * Begins a sign-in.
 * @returns where to send the browser, and what to keep for its return
 * @throws ProviderError
 */
export async function beginSaml(provider: SamlProvider, at: Surroundings): Promise<{ to: URL; round: SamlRound }> {
  const request_id = `_${randomBytes(20).toString('hex')}`;
  const library = libraryFor(provider, at.url, await samlPeer(provider, at), request_id);
  const to = new URL(await library.getAuthorizeUrlAsync('', undefined, {}));
  return { to, round: { request_id } };
}

/** The assertion as it was signed. @throws ProviderError */
async function signedAssertion(library: SAML, message: string): Promise<string> {
  try {
    const { profile } = await library.validatePostResponseAsync({ SAMLResponse: message });
    const xml = profile?.getAssertionXml?.();
    if (xml === undefined) throw new ProviderError('no assertion');
    return xml;
  } catch (error) {
    // Its messages repeat what was sent.
    throw error instanceof ProviderError ? error : new ProviderError('signature, times or audience');
  }
}

/** Signatures inside of what is encrypted are looked at as those outside. */
async function checkEncrypted(xml: string, { private_key }: SamlProvider): Promise<void> {
  if (private_key === undefined) throw new ProviderError('encrypted, without a key here');
  const inner = await decrypted(xml, { key: private_key, disallowDecryptionWithInsecureAlgorithm: true }).catch(() => {
    throw new ProviderError('encryption');
  });
  checkSignatures(elementOf(inner));
}

/**
 * Ends a sign-in.
 * @param message `SAMLResponse`, as the browser sent it
 * @param round undefined for one that began at the provider
 * @throws ProviderError for anything that is not as it has to be
 */
export async function endSaml(
  provider: SamlProvider,
  at: Surroundings,
  message: string,
  round: SamlRound | undefined,
): Promise<SamlStated> {
  const peer = await samlPeer(provider, at);
  const expected: Expected = {
    callback: callbackUrl(at.url, provider.name),
    entity_id: peer.entity_id,
    audience: nameOf(provider, at.url),
    request_id: round?.request_id,
    clock_skew_s: provider.clock_skew,
  };
  const xml = Buffer.from(message, 'base64').toString('utf8');
  const root = elementOf(xml);
  checkResponse(root, expected);
  checkSignatures(root);
  if (allIn(root).some(({ name }) => name === 'EncryptedAssertion')) await checkEncrypted(xml, provider);
  const library = libraryFor(provider, at.url, peer, round?.request_id);
  const assertion = elementOf(await signedAssertion(library, message));
  const ends_at = checkAssertion(assertion, expected);
  const name = allIn(assertion).find((each) => each.name === 'NameID');
  return {
    ...statedIn(provider, assertion),
    assertion: { id: assertion.attributes.ID!, ends_at },
    name_id: storable(name?.text.trim()),
  };
}

/** The metadata of this server for a provider. */
export function samlMetadata(provider: SamlProvider, url: string): string {
  const { certificate = null } = provider;
  // What it needs to know of the provider is not in there.
  const peer = { entity_id: '', sso_url: url, certificates: [certificate ?? 'none'], slo_url: undefined };
  return libraryFor(provider, url, peer, undefined).generateServiceProviderMetadata(certificate, certificate);
}

/** The origins to which a sign-in leads a browser, as far as they are known. */
export async function originsOfSaml(provider: SamlProvider, at: Surroundings): Promise<string[]> {
  const peer = await soon(provider, samlPeer(provider, at));
  return peer ? [new URL(peer.sso_url).origin] : [];
}
