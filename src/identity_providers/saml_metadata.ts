/** Where a SAML provider is and which certificates it has: from the file, or from its metadata. */
import { ask } from './asking.ts';
import { ProviderError, type Surroundings } from './definition.ts';
import type { SamlProvider } from './members.ts';
import { protocolNamespace, signatureNamespace } from './saml_checks.ts';
import { allIn, childrenOf, type Element, elementOf } from './xml.ts';

export interface SamlPeer {
  entity_id: string;
  sso_url: string;
  certificates: string[];
  /** Where answers to logouts go, if the provider takes any. */
  slo_url: string | undefined;
}

const metadataNamespace = 'urn:oasis:names:tc:SAML:2.0:metadata';
const redirectBinding = 'urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect';
/** For how long metadata count. */
const known_ms = 3_600_000;
const known = new WeakMap<SamlProvider, { peer: Promise<SamlPeer>; until_ms: number }>();

const asPem = (text: string): string =>
  `-----BEGIN CERTIFICATE-----\n${text.replaceAll(/\s+/g, '')}\n-----END CERTIFICATE-----\n`;

/** The certificates with which a provider signs. */
const certificatesIn = (descriptor: Element): string[] =>
  childrenOf(descriptor, metadataNamespace, 'KeyDescriptor')
    .filter(({ attributes }) => attributes.use === undefined || attributes.use === 'signing')
    .flatMap(allIn)
    .filter(({ namespace, name }) => namespace === signatureNamespace && name === 'X509Certificate')
    .map(({ text }) => asPem(text));

/** @throws ProviderError for metadata without what is needed, or of another provider */
function peerIn(xml: string, { idp_entity_id }: Pick<SamlProvider, 'idp_entity_id'>): SamlPeer {
  const entities = allIn(elementOf(xml)).filter(
    ({ namespace, name }) => namespace === metadataNamespace && name === 'EntityDescriptor',
  );
  for (const entity of entities) {
    const entity_id = entity.attributes.entityID;
    const [descriptor] = childrenOf(entity, metadataNamespace, 'IDPSSODescriptor').filter(({ attributes }) =>
      (attributes.protocolSupportEnumeration ?? '').split(/\s+/).includes(protocolNamespace),
    );
    if (!entity_id || !descriptor || (idp_entity_id !== undefined && entity_id !== idp_entity_id)) continue;
    const sso = childrenOf(descriptor, metadataNamespace, 'SingleSignOnService').find(
      ({ attributes }) => attributes.Binding === redirectBinding,
    );
    const certificates = certificatesIn(descriptor);
    const url = URL.parse(sso?.attributes.Location ?? '');
    if (!url || !['https:', 'http:'].includes(url.protocol) || certificates.length === 0)
      throw new ProviderError('metadata without sign-on or certificate');
    const slo = childrenOf(descriptor, metadataNamespace, 'SingleLogoutService').find(
      ({ attributes }) => attributes.Binding === redirectBinding,
    );
    const slo_url = URL.parse(slo?.attributes.ResponseLocation ?? slo?.attributes.Location ?? '')?.href;
    return { entity_id, sso_url: url.href, certificates, slo_url };
  }
  throw new ProviderError('metadata of another provider');
}

async function fetchPeer(provider: SamlProvider, url: string, { may_be_local }: Surroundings): Promise<SamlPeer> {
  const { status, body } = await ask(url, {
    method: 'GET',
    headers: { accept: 'application/samlmetadata+xml, application/xml, text/xml' },
    own: new Set([new URL(url).origin]),
    may_be_local,
  });
  if (status !== 200) throw new ProviderError('metadata cannot be read', true);
  return peerIn(body.toString('utf8'), provider);
}

/** @throws ProviderError */
export function samlPeer(provider: SamlProvider, at: Surroundings): Promise<SamlPeer> {
  const { idp_metadata_url, idp_sso_url, idp_cert, idp_entity_id } = provider;
  if (idp_metadata_url === undefined)
    return Promise.resolve({
      ...{ entity_id: idp_entity_id!, sso_url: idp_sso_url!, certificates: idp_cert!, slo_url: undefined },
    });
  const before = known.get(provider);
  if (before && before.until_ms > Date.now()) return before.peer;
  const peer = fetchPeer(provider, idp_metadata_url, at);
  known.set(provider, { peer, until_ms: Date.now() + known_ms });
  peer.catch(() => known.delete(provider));
  return peer;
}
