import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { withMemberTables } from '../../test/support/member_tables.ts';
import { readSignInFile } from './file.ts';

const oidc = { name: 'corp', type: 'oidc', issuer: 'https://id.example.com', client_id: 'forge' };
const saml = {
  ...{ name: 'sso', type: 'saml', idp_metadata_url: 'https://id.example.com/metadata' },
};
const ldap = {
  name: 'directory',
  type: 'ldap',
  host: 'ldap.example.com',
  encryption: 'simple_tls',
  base: 'dc=example',
};

function written(t: TestContext, content: unknown): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'coppice-sign-in-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = path.join(folder, 'sign_in.json');
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
  return file;
}

function read(t: TestContext, content: unknown, env: Record<string, string> = {}) {
  const result = readSignInFile(written(t, content), env);
  assert.ok(!Array.isArray(result), String(result));
  return result;
}

function problemsOf(t: TestContext, content: unknown, env: Record<string, string> = {}): string[] {
  const result = readSignInFile(written(t, content), env);
  return Array.isArray(result) ? result.map((text) => text.replace('has a problem: ', '')) : [];
}

test('a file in JSON or YAML names providers, and what is left out has its default', (t) => {
  const { providers, ...rest } = read(t, { providers: [oidc, saml, ldap] });
  assert.deepEqual(rest, { administrators_by_password: true, scim_provider: undefined, warnings: [] });
  const [corp, sso, directory] = providers;
  assert.partialDeepStrictEqual(corp, {
    ...{ label: 'corp', scopes: ['openid', 'profile', 'email'], uid_field: 'sub', client_auth_method: 'basic' },
    ...{ allow_sign_up: true, block_auto_created: true, auto_link_user: false, trust_second_factor: false },
  });
  assert.partialDeepStrictEqual(sso, { want_assertions_signed: true, allow_idp_initiated: false, clock_skew: 60 });
  assert.partialDeepStrictEqual(directory, { hosts: ['ldap.example.com:636'], block_auto_created: false, timeout: 10 });
  const yaml = `
providers:
  - name: corp
    type: oidc
    label: Corporate account
    issuer: https://id.example.com
    client_id: forge
password: {administrators: false}
scim: {provider: corp}
`;
  assert.partialDeepStrictEqual(read(t, yaml), {
    ...{ providers: [{ label: 'Corporate account' }], administrators_by_password: false, scim_provider: 'corp' },
  });
});

test('a secret is a text, a variable or a file, and no problem repeats it', (t) => {
  const secretOf = (client_secret: unknown, env: Record<string, string> = {}) =>
    (read(t, { providers: [{ ...oidc, client_secret }] }, env).providers[0] as { client_secret?: string })
      .client_secret;
  assert.equal(secretOf('hidden'), 'hidden');
  assert.equal(secretOf({ env: 'WORD' }, { WORD: 'hidden' }), 'hidden');
  assert.equal(secretOf({ file: written(t, 'hidden\n') }), 'hidden');
  const wrong = [{ env: 'WORD' }, { file: '/nowhere' }, { file: written(t, '\n') }, { text: 'hidden' }, 7, ['hidden']];
  for (const client_secret of wrong) {
    const [problem, ...more] = problemsOf(t, { providers: [{ ...oidc, client_secret }] });
    assert.match(problem!, /^providers\[0\] \(corp\): client_secret (?:must be|names)/);
    assert.deepEqual(more, []);
    assert.doesNotMatch(problem!, /hidden/);
  }
  assert.match(problemsOf(t, 'providers: [hidden, "').join(), /^names a file that is neither JSON nor YAML: line 1\.$/);
});

test('all problems are reported together', (t) => {
  const providers = [
    { ...oidc, colour: 'green', issuer: 'http://id.example.com', scopes: ['email'], trust_second_factor: true },
    { ...oidc, client_id: '' },
    { ...saml, name: 'SSO', idp_metadata_url: undefined, idp_cert: 'x', certificate: 'x', clock_skew: 1.5 },
    { ...ldap, encryption: 'tls', hosts: ['ldap.example.com'], bind_dn: 'cn=x', admin_group: 'x' },
    { name: 'x', type: 'kerberos' },
    'x',
  ];
  assert.deepEqual(problemsOf(t, { providers, mail: {}, password: { users: true }, scim: { provider: 'other' } }), [
    'mail is no member of the file.',
    'providers[0] (corp): colour is no member of a provider of the type oidc.',
    'providers[0] (corp): issuer must begin with https://, because it is not on this machine.',
    'providers[0] (corp): trust_second_factor must be a list of texts.',
    'providers[0] (corp): scopes must have openid among them.',
    'providers[1] (corp): client_id must be a text.',
    'providers[2]: name must have 1 to 40 small letters, digits, hyphens and underscores.',
    'providers[2]: idp_cert must be a certificate in PEM, or a list of them.',
    'providers[2]: certificate must be a certificate in PEM, or a list of them.',
    'providers[2]: clock_skew must be a whole number from 0 to 300.',
    'providers[2]: idp_sso_url is missing.',
    'providers[2]: idp_entity_id is missing.',
    'providers[2]: private_key and certificate belong together.',
    'providers[3] (directory): hosts must be a list of up to 20 texts like ldap.example.com:636.',
    'providers[3] (directory): encryption must be one of simple_tls, start_tls, plain.',
    'providers[3] (directory): hosts or host must say where the directory is, one of them.',
    'providers[3] (directory): bind_dn and password belong together.',
    'providers[3] (directory): admin_group needs group_base.',
    'providers[4] (x): type must be one of oidc, saml, ldap.',
    'providers[5] must be an object.',
    'providers has the name corp twice.',
    'password: users is no member of it.',
    'scim: provider must be the name of a provider in the file.',
  ]);
  const many = Array.from({ length: 21 }, (_, index) => ({ ...oidc, name: `corp-${index}` }));
  assert.deepEqual(problemsOf(t, { providers: many }), ['providers must be a list of at most 20.']);
  assert.deepEqual(problemsOf(t, '[]'), ['names a file that must have an object with providers.']);
});

test('what is allowed and unwise is warned of', (t) => {
  const providers = [
    { ...oidc, uid_field: 'email' },
    { ...ldap, encryption: 'plain' },
  ];
  const { warnings } = read(t, { providers });
  assert.deepEqual(
    warnings.map((text) => text.split('.')[0]),
    [
      'COPPICE_SIGN_IN: corp: uid_field is email',
      'COPPICE_SIGN_IN: directory: encryption is plain: passwords pass the network as they are',
    ],
  );
});

test('the examples of the documents can be used, but for their secrets', (t) => {
  for (const name of readdirSync('docs/providers')) {
    const text = readFileSync(`docs/providers/${name}`, 'utf8');
    const examples = [...text.matchAll(/```yaml\n([\s\S]*?)```/g)].map(([, yaml]) => yaml);
    assert.ok(examples.length > 0);
    for (const example of examples)
      for (const problem of problemsOf(t, example))
        assert.match(problem, /: (?:client_secret|password|ca_file) names /, name);
  }
});

test('the reference lists the members of each type', () => {
  const text = readFileSync('docs/reference/sign_in_providers.md', 'utf8');
  assert.equal(withMemberTables(text), text, 'npm run generate');
});
