/** The members of providers in the file COPPICE_SIGN_IN, as docs/reference/sign_in_providers.md lists them. */
import { memberSets } from '../../src/identity_providers/index.ts';
import type { Member } from '../../src/identity_providers/members.ts';

const asCode = (value: unknown) => `\`${JSON.stringify(value)}\``;

function defaultOf({ is_required, fallback, usually }: Member<unknown>): string {
  if (is_required) return 'required';
  return usually ?? (fallback === undefined ? 'none' : asCode(fallback));
}

function tableOf(members: Readonly<Record<string, Member<unknown>>>): string {
  const rows = Object.entries(members).map(
    ([name, member]) => `| \`${name}\` | ${member.kind.says} | ${defaultOf(member)} | ${member.about} |`,
  );
  return ['| member | value | default | what it says |', '|---|---|---|---|', ...rows].join('\n');
}

/** The text of the reference with the tables of today in their places. */
export const withMemberTables = (text: string): string =>
  Object.entries(memberSets).reduce((whole, [type, members]) => {
    const [begin, end] = [`<!-- members of ${type}: begin -->\n`, `\n<!-- members of ${type}: end -->`];
    const [before, rest = ''] = whole.split(begin);
    const [, after = ''] = rest.split(end);
    return `${before}${begin}${tableOf(members)}${end}${after}`;
  }, text);
