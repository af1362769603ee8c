/** A foreign SAML identity provider, which signs in whoever the test says without asking. */
import { createRequire } from 'node:module';
import { inflateRawSync } from 'node:zlib';
import { rsaSigned } from './certificate.ts';
import { listening } from './oidc_provider.ts';

/** What is used of the package, which has no types. */
interface SamlOptions {
  issuer: string;
  cert: string;
  key: string;
  audience: string;
  recipient: string;
  destination: string;
  inResponseTo?: string | undefined;
  lifetimeInSeconds: number;
  signatureAlgorithm: string;
  digestAlgorithm: string;
  signResponse: boolean;
  signAssertion: boolean;
  samlStatusCode?: string;
  encryptionPublicKey?: string;
  encryptionCert?: string;
  authnContextClassRef?: string;
  profileMapper(person: SamlPerson): {
    getClaims(): Record<string, unknown>;
    getNameIdentifier(): { nameIdentifier: string; nameIdentifierFormat: string };
  };
}
const samlp = createRequire(import.meta.url)('samlp') as {
  getSamlResponse(options: SamlOptions, person: SamlPerson, done: (error: Error | null, xml: string) => void): void;
};

export interface SamlPerson {
  name_id: string;
  format?: string;
  attributes: Record<string, unknown>;
}

export interface SamlPeer {
  issuer: string;
  sso_url: string;
  cert: string;
  key: string;
  who: SamlPerson;
  /** Changes of how the next answers are made. */
  options: Partial<SamlOptions>;
  /** Makes an answer for an address to which a sign-in leads. */
  answer(away: string, options?: Partial<SamlOptions>): Promise<string>;
  metadata(): string;
  stop(): Promise<void>;
}

/** The request in an address to which a sign-in leads. */
export function requestIn(away: string): { xml: string; id: string; callback: string; audience: string } {
  const request = new URL(away).searchParams.get('SAMLRequest')!;
  const xml = inflateRawSync(Buffer.from(request, 'base64')).toString();
  const named = (pattern: RegExp) => pattern.exec(xml)?.[1] ?? '';
  return {
    xml,
    id: named(/\sID="([^"]+)"/),
    callback: named(/AssertionConsumerServiceURL="([^"]+)"/),
    audience: named(/Issuer[^>]*>([^<]+)</),
  };
}

const unspecified = 'urn:oasis:names:tc:SAML:1.1:nameid-format:unspecified';

export async function startSamlProvider(): Promise<SamlPeer> {
  const [{ key, cert }] = rsaSigned;
  const peer = { who: { name_id: '', attributes: {} } as SamlPerson, options: {} as Partial<SamlOptions> };
  let issuer = '';
  const answer = async (away: string, options: Partial<SamlOptions> = peer.options): Promise<string> => {
    const { id, callback, audience } = requestIn(away);
    const usual: SamlOptions = {
      ...{ issuer, cert, key, audience, recipient: callback, destination: callback, inResponseTo: id },
      ...{ lifetimeInSeconds: 300, signatureAlgorithm: 'rsa-sha256', digestAlgorithm: 'sha256' },
      ...{ signResponse: false, signAssertion: true },
      profileMapper: ({ name_id, format = unspecified, attributes }) => ({
        getClaims: () => attributes,
        getNameIdentifier: () => ({ nameIdentifier: name_id, nameIdentifierFormat: format }),
      }),
    };
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    samlp.getSamlResponse({ ...usual, ...options }, peer.who, (error, xml) => (error ? reject(error) : resolve(xml)));
    return Buffer.from(await promise).toString('base64');
  };
  const metadata = () => `<?xml version="1.0"?>
<EntityDescriptor xmlns="urn:oasis:names:tc:SAML:2.0:metadata" entityID="${issuer}">
<IDPSSODescriptor protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol">
<KeyDescriptor use="signing"><KeyInfo xmlns="http://www.w3.org/2000/09/xmldsig#"><X509Data><X509Certificate>${cert.replaceAll(/-----[^-]+-----|\s/g, '')}</X509Certificate></X509Data></KeyInfo></KeyDescriptor>
<SingleSignOnService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect" Location="${issuer}/sso"/>
</IDPSSODescriptor></EntityDescriptor>`;
  const server = await listening(async (request, response) => {
    if (request.url === '/metadata')
      return void response.writeHead(200, { 'content-type': 'application/samlmetadata+xml' }).end(metadata());
    if (request.url === '/favicon.ico') return void response.writeHead(204).end();
    const away = `${issuer}${request.url}`;
    if (!new URL(away).searchParams.has('SAMLRequest')) return void response.writeHead(404).end();
    const { callback } = requestIn(away);
    response.writeHead(200, { 'content-type': 'text/html' }).end(`<!doctype html>
<html lang="en"><head><title>Provider</title></head><body><h1>Provider</h1>
<form method="post" action="${callback}"><input type="hidden" name="SAMLResponse" value="${await answer(away)}"><button>Go on</button></form></body></html>`);
  });
  issuer = server.url;
  return Object.assign(peer, { issuer, sso_url: `${issuer}/sso`, cert, key, answer, metadata, stop: server.stop });
}
