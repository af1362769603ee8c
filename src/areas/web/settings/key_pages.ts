/** The SSH keys of the visitor. */
import { chip, form, html, page, pager, pagingOf, redirect, rows, time } from '../../../pages/index.ts';
import { Key, readPublicKey } from '../../people/keys/index.ts';
import { besideMap } from '../declared/definition.ts';

const path = '/-/user_settings/ssh_keys';

const usages = { auth_and_signing: 'Signing in and signatures', auth: 'Signing in', signing: 'Signatures' } as const;

/** The fingerprint of a key as shown by `ssh-keygen -l`. */
function fingerprintOf(key: string): string {
  const read = readPublicKey(key);
  return 'refusal' in read ? '' : `SHA256:${read.fingerprint_sha256}`;
}

const keysPage = page(path, {
  signed_in: true,
  load: ({ list, query }) => list(Key, 'listOwnKeys', pagingOf({ query })),
  forms: { add: { runs: 'createOwnKey', is_sensitive: true }, delete: { runs: 'deleteOwnKey' } },
  view: (keys, seen) => ({
    title: ['SSH keys'],
    main: html`<p>With an SSH key, you fetch and push without a password, and your signatures can be verified.</p>
${rows(
  keys.items.map(
    (key) => html`<strong>${key.title}</strong> ${chip(usages[key.usage_type])}
<div><code>${fingerprintOf(key.key)}</code></div>
<div class="soft">Added ${time(key.created_at)}, ${key.last_used_at ? ['last used ', time(key.last_used_at)] : 'never used'}, ${key.expires_at ? ['expires ', time(key.expires_at)] : 'does not expire'}</div>
${form(seen, 'delete', {
  fields: [{ name: 'key_id', label: '', kind: 'hidden', value: key.id }],
  button: html`Delete <span class="visually-hidden">${key.title}</span>`,
  look: 'danger',
  key: key.id,
})}`,
  ),
  'You have no SSH keys yet.',
)}
${pager(keys, seen)}
<h2>Add a key</h2>
<p>Make one with <code>ssh-keygen -t ed25519</code>, and paste the file that ends in <code>.pub</code>.</p>
${form(seen, 'add', {
  fields: [
    {
      name: 'key',
      label: 'Public key',
      kind: 'area',
      is_required: true,
      maximum: 20_000,
      refused_as: ['fingerprint_sha256'],
    },
    {
      name: 'title',
      label: 'Title',
      is_required: true,
      maximum: 255,
      help: 'By which you know it, e.g. the name of the computer.',
    },
    {
      name: 'usage_type',
      label: 'Used for',
      kind: 'select',
      options: Object.entries(usages).map(([value, label]) => ({ value, label })),
    },
    { name: 'expires_at', label: 'Expires on', kind: 'date', help: 'Left empty, it does not expire.' },
  ],
  button: 'Add the key',
})}`,
  }),
});

export const sshKeysPage = besideMap('own', 'ssh_keys', keysPage);

export const sshKeyRedirect = redirect('/-/profile/keys', () => path);
