/** Memberships that follow the groups which foreign OpenID Connect and SAML providers state at the sign-in. */
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { ownAddress } from '../support/address.ts';
import { anonymousBrowser } from '../support/browser.ts';
import { atFileEnd } from '../support/file_end.ts';
import { followTo, type OidcPeer, oidcClient, startOidcProvider } from '../support/oidc_provider.ts';
import { type SamlPeer, startSamlProvider } from '../support/saml_provider.ts';
import { sent } from '../support/sent.ts';
import { signInFile } from '../support/sign_in_file.ts';
import { type World, world } from '../support/world.ts';

let oidc: OidcPeer;
let saml: SamlPeer;
let environment: Record<string, string>;

before(async () => {
  const address = await ownAddress();
  oidc = await startOidcProvider(address.COPPICE_URL!, ['corporate']);
  saml = await startSamlProvider();
  atFileEnd(() => oidc.stop());
  atFileEnd(() => saml.stop());
  const known = { idp_sso_url: saml.sso_url, idp_cert: saml.cert, idp_entity_id: saml.issuer };
  const file = await signInFile({
    providers: [
      { type: 'oidc', issuer: oidc.issuer, ...oidcClient, name: 'corporate', block_auto_created: false },
      { type: 'saml', ...known, name: 'sso', block_auto_created: false },
    ],
  });
  environment = { ...address, ...file };
});

let count = 0;

type SignIn = (groups: string[] | undefined) => Promise<void>;

/** A person, who signs in with the groups that the provider states. */
const people: Readonly<Record<string, (at: World) => { uid: string; signIn: SignIn }>> = {
  corporate: (at) => {
    const uid = `claims-${++count}`;
    const person = { name: 'Katherine', preferred_username: uid, email: `${uid}@id.example.com` };
    return {
      uid,
      async signIn(groups) {
        oidc.people.set(uid, { ...person, ...(groups === undefined ? {} : { groups }) });
        oidc.who = uid;
        const browser = anonymousBrowser(at.url);
        const away = await browser.send('/users/auth/corporate', 'sign_in', {});
        const { status, html } = await browser.get(await followTo(at.url, away.headers.get('location')!));
        assert.equal(status, 302, html);
      },
    };
  },
  sso: (at) => {
    const uid = `claims-${++count}`;
    const person = { displayName: 'Katherine', uid, email: `${uid}@id.example.com` };
    return {
      uid,
      async signIn(groups) {
        saml.who = { name_id: uid, attributes: { ...person, ...(groups === undefined ? {} : { groups }) } };
        const browser = anonymousBrowser(at.url);
        const away = await browser.send('/users/auth/sso', 'sign_in', {});
        const answer = await fetch(`${at.url}/users/auth/sso/callback`, {
          method: 'POST',
          redirect: 'manual',
          headers: { 'sec-fetch-site': 'cross-site', origin: saml.issuer },
          body: new URLSearchParams({ SAMLResponse: await saml.answer(away.headers.get('location')!), RelayState: '' }),
        });
        const { status, html } = await browser.get(answer.headers.get('location')!);
        assert.equal(status, 302, html);
      },
    };
  },
};

for (const provider of ['corporate', 'sso'])
  test(`members follow the groups that ${provider} states`, async () => {
    const at = await world({ environment });
    const links = `/groups/${at.group.id}/saml_group_links`;
    await sent(at.as('owner').post(links, { saml_group_name: 'Cooks', access_level: 20 }));
    await sent(at.as('owner').post(links, { saml_group_name: 'Chefs', access_level: 40, provider }));
    const other = provider === 'sso' ? 'corporate' : 'sso';
    await sent(at.as('owner').post(links, { saml_group_name: 'Cooks', access_level: 50, provider: other }));
    const { uid, signIn } = people[provider]!(at);
    await signIn(['Cooks', 'cooks', 'Others']);
    const [user] = await sent(at.as('admin').get(`/users?extern_uid=${uid}&provider=${provider}`));
    const held = async () => {
      const { status, body } = await at.as('owner').get(`/groups/${at.group.id}/members/${user.id}`);
      return status === 404 ? undefined : [body.access_level, body.membership_source, body.created_by];
    };
    assert.deepEqual(await held(), [20, 'saml', undefined]);
    await signIn(['Cooks', 'Chefs']);
    assert.deepEqual(await held(), [40, 'saml', undefined]);
    await signIn(undefined);
    assert.deepEqual(await held(), [40, 'saml', undefined], 'nothing was said of groups');
    await signIn(['Chefs']);
    await signIn(['chefs']);
    assert.equal(await held(), undefined, 'names are compared byte for byte');
  });
