/** The personal access tokens of the visitor. */
import { badParam, type Values } from '../../../http/index.ts';
import {
  chip,
  day,
  type Field,
  form,
  html,
  type PageCall,
  page,
  pager,
  pagingOf,
  redirect,
  rows,
  textIn,
  time,
  type View,
} from '../../../pages/index.ts';
import { issueOwnToken, PersonalAccessToken, scopesFor, shownOnce } from '../../people/personal_access_tokens/index.ts';
import { besideMap } from '../declared/definition.ts';

const path = '/-/user_settings/personal_access_tokens';

/** The descriptions of scopes with an effect; other scopes exist for clients that request them. */
const scopeTexts: Readonly<Record<string, string>> = {
  api: 'everything in the API and in git',
  read_api: 'reading with the API',
  read_user: 'reading users',
  read_repository: 'fetching with git, and reading files',
  write_repository: 'fetching and pushing with git',
  self_rotate: 'rotating itself',
  sudo: 'acting as another user, together with a scope of the request',
};

function expiryIn(fields: Values): string | undefined {
  const text = textIn(fields, 'expires_at');
  if (text !== undefined && (!/^\d{4}-\d\d-\d\d$/.test(text) || Number.isNaN(Date.parse(text))))
    throw badParam('expires_at', 'is invalid');
  return text;
}

const once = (name: string, value: string): View => ({
  title: ['Your new access token'],
  main: html`<p class="notice">Copy the token “${name}” now. It is not shown again.</p>
<p><code>${value}</code></p>
<p><a href="${path}">Back to your access tokens</a></p>`,
});

async function create({ services, caller }: PageCall, fields: Values): Promise<View> {
  const name = textIn(fields, 'name') ?? '';
  const scopes = [fields.scopes ?? []].flat().filter((scope) => typeof scope === 'string');
  const request = { name, description: textIn(fields, 'description'), scopes, expires_at: expiryIn(fields) };
  const made = await issueOwnToken(services.db, caller!, request);
  return once(name, (await shownOnce(services.db, made)).token);
}

const newTokenFields = (isAdmin: boolean): Field[] => [
  { name: 'name', label: 'Name', is_required: true, maximum: 255 },
  { name: 'description', label: 'Description', maximum: 255 },
  { name: 'expires_at', label: 'Expires on', kind: 'date', help: 'Left empty, it lasts as long as a token may.' },
  {
    name: 'scopes',
    label: 'Scopes',
    kind: 'checkboxes',
    options: scopesFor({ admin: isAdmin }).map((scope) => ({
      value: scope,
      label: scopeTexts[scope] ? `${scope}: ${scopeTexts[scope]}` : scope,
    })),
  },
];

const ownTokensPage = page(path, {
  signed_in: true,
  load: ({ list, query, caller }) =>
    list(PersonalAccessToken, 'listPersonalAccessTokens', {
      ...pagingOf({ query }),
      user_id: caller!.id,
      state: query.state === 'inactive' ? 'inactive' : 'active',
      sort: 'created_desc',
    }),
  forms: {
    create: { act: create, is_sensitive: true },
    rotate: {
      runs: 'rotatePersonalAccessToken',
      is_sensitive: true,
      shows: ({ name, token }: { name: string; token: string }) => once(name, token),
    },
    revoke: { runs: 'revokePersonalAccessToken' },
  },
  view: (tokens, seen) => ({
    title: [seen.query.state === 'inactive' ? 'Tokens that have ended' : 'Access tokens'],
    main: html`<p>With an access token, programs act for you: as the password of git over HTTPS, or as the header <code>PRIVATE-TOKEN</code> of the API.</p>
<p>${seen.query.state === 'inactive' ? html`<a href="${path}">Active tokens</a>` : html`<a href="${`${path}?state=inactive`}">Tokens that have ended</a>`}</p>
${rows(
  tokens.items.map(
    (token) => html`<strong>${token.name}</strong> ${token.scopes.map((scope) => html`${chip(scope)} `)}
${token.description && html`<div>${token.description}</div>`}
<div class="soft">Created ${time(token.created_at)}, ${token.last_used_at ? ['last used ', time(token.last_used_at)] : 'never used'}, ${token.revoked ? 'revoked' : token.expires_at ? ['expires on ', day(token.expires_at)] : 'does not expire'}</div>
${
  token.active &&
  ['rotate', 'revoke'].map((name) =>
    form(seen, name, {
      fields: [{ name: 'id', label: '', kind: 'hidden', value: token.id }],
      button: html`${name === 'rotate' ? 'Rotate' : 'Revoke'} <span class="visually-hidden">${token.name}</span>`,
      look: name === 'rotate' ? 'plain' : 'danger',
      key: token.id,
    }),
  )
}`,
  ),
  'There are no tokens here.',
)}
${pager(tokens, seen)}
<h2>New token</h2>
${form(seen, 'create', { fields: newTokenFields(seen.caller!.admin), button: 'Create the token' })}`,
  }),
});

export const tokensPage = besideMap('own', 'tokens', ownTokensPage);

export const tokenRedirect = redirect('/-/profile/personal_access_tokens', () => path);
