/** The links of groups with directories and other providers (docs/reference/group_links.md#links-with-providers). */
import type { Values } from '../../../http/index.ts';
import type { Option, PageCall } from '../../../pages/index.ts';
import { formOf, settingsPage } from '../declared/definition.ts';
import { choicesOf } from '../declared/form_present.ts';
import { listPart } from '../declared/list_present.ts';
import { dotted, textOf } from '../declared/views.ts';
import { roleNames } from './level_rules.ts';

const roleOf = (level: unknown): string => roleNames[String(level)] ?? String(level);

/** Which of some parameters an item has. */
const present = (item: Values, names: readonly string[]): Record<string, string> =>
  Object.fromEntries(names.flatMap((name) => (item[name] === null ? [] : [[name, String(item[name])]])));

const none = { value: '', label: 'None' };

/** The providers in the file: directories, or all others. */
const providersOf =
  (isDirectory: boolean) =>
  async ({ services }: PageCall): Promise<Option[]> =>
    services.sign_in.providers
      .filter(({ type }) => (type === 'ldap') === isDirectory)
      .map(({ name, label }) => ({ value: name, label }));

const role = { label: 'Role', words: roleNames };
const customRole = {
  label: 'Custom role',
  help: undefined,
  choices: choicesOf('listGroupMemberRoles', { label: 'name', first: [none] }),
};

export const providerLinkPage = settingsPage('group', 'provider_links', [
  listPart('ldap_link', {
    list: 'listLdapGroupLinks',
    heading: 'Groups of directories',
    intro: 'Their people are members here, from the next sign-in or question to the directory on.',
    names: (link) => present(link, ['provider', 'cn', 'filter']),
    title: (link) => textOf(link, link.cn === null ? 'filter' : 'cn'),
    line: (link) => dotted([textOf(link, 'provider'), roleOf(link.group_access)]),
    empty: 'There are no links with directories.',
    create: formOf(
      'createLdapGroupLink',
      {
        provider: { label: 'Directory', choices: providersOf(true), help: undefined },
        cn: { label: 'Name of the group (cn)', help: 'Or else a filter' },
        filter: { label: 'Filter', help: 'Such as (title=cook)' },
        group_access: role,
        member_role_id: customRole,
      },
      { button: 'Link the group', heading: 'New link with a directory' },
    ),
    buttons: {
      remove: {
        runs: 'deleteLdapGroupLink',
        label: 'Remove',
        look: 'danger',
        done: 'The link and its memberships are gone.',
      },
    },
  }),
  listPart('saml_link', {
    list: 'listSamlGroupLinks',
    heading: 'Groups of other providers',
    intro: 'Whoever a provider states to be in such a group when they sign in is a member here.',
    names: (link) => ({ saml_group_name: textOf(link, 'name'), provider: String(link.provider ?? '') }),
    title: 'name',
    line: (link) => dotted([String(link.provider ?? 'any provider'), roleOf(link.access_level)]),
    empty: 'There are no links with other providers.',
    create: formOf(
      'createSamlGroupLink',
      {
        saml_group_name: { label: 'Name of the group', help: undefined },
        provider: {
          label: 'Provider',
          help: undefined,
          choices: async (call) => [{ value: '', label: 'Any' }, ...(await providersOf(false)(call))],
        },
        access_level: role,
        member_role_id: customRole,
      },
      { button: 'Link the group', heading: 'New link with a provider' },
    ),
    buttons: {
      remove: {
        runs: 'deleteSamlGroupLink',
        label: 'Remove',
        look: 'danger',
        done: 'The link and its memberships are gone.',
      },
    },
  }),
]);
