/**
 * The permissions, conditions and limitations of licenses, in the terms that clients expect, and placeholders in their texts (docs/reference/templates.md#licenses). The texts come
 * from the SPDX list; the facts are our own, for the most popular licenses.
 */

/** The families of the most popular licenses, by SPDX ID. */
const families = {
  permissive:
    'MIT MIT-0 ISC BSD-2-Clause BSD-3-Clause BSD-1-Clause 0BSD Zlib BSL-1.0 NCSA PostgreSQL Unlicense BlueOak-1.0.0',
  patents: 'Apache-2.0 ECL-2.0 UPL-1.0 AFL-3.0 MS-PL MulanPSL-2.0 BSD-2-Clause-Patent',
  file: 'MPL-2.0 EPL-2.0 MS-RL CDDL-1.0',
  library: 'LGPL-2.1-only LGPL-2.1-or-later LGPL-3.0-only LGPL-3.0-or-later',
  whole: 'GPL-2.0-only GPL-2.0-or-later GPL-3.0-only GPL-3.0-or-later EUPL-1.2 CECILL-2.1',
  network: 'AGPL-3.0-only AGPL-3.0-or-later OSL-3.0',
} as const;
type Family = keyof typeof families;

export interface LicenseFacts {
  permissions: string[];
  conditions: string[];
  limitations: string[];
}

const usual = ['commercial-use', 'modifications', 'distribution', 'private-use'];
const withoutWarranty = ['liability', 'warranty'];
const shared = ['include-copyright', 'disclose-source', 'document-changes'];

const facts: Readonly<Record<Family, LicenseFacts>> = {
  permissive: { permissions: usual, conditions: ['include-copyright'], limitations: withoutWarranty },
  patents: {
    permissions: [...usual, 'patent-use'],
    conditions: ['include-copyright', 'document-changes'],
    limitations: ['trademark-use', ...withoutWarranty],
  },
  file: {
    permissions: [...usual, 'patent-use'],
    conditions: ['include-copyright', 'disclose-source', 'same-license--file'],
    limitations: ['trademark-use', ...withoutWarranty],
  },
  library: { permissions: usual, conditions: [...shared, 'same-license--library'], limitations: withoutWarranty },
  whole: { permissions: usual, conditions: [...shared, 'same-license'], limitations: withoutWarranty },
  network: {
    permissions: [...usual, 'patent-use'],
    conditions: [...shared, 'network-use-disclose', 'same-license'],
    limitations: withoutWarranty,
  },
};

/** Licenses without conditions. */
const unconditional: ReadonlySet<string> = new Set(['MIT-0', '0BSD', 'Unlicense']);
/** In these families, licenses of version 3 grant patent rights. */
const grantsPatents = (id: string): boolean => /GPL-3|EUPL|CECILL/.test(id);

const familyOf = new Map(
  (Object.keys(families) as Family[]).flatMap((family) =>
    families[family].split(' ').map((id) => [id, family] as const),
  ),
);

/** The facts about a license; empty for an uncommon one. */
export function factsAbout(id: string): LicenseFacts {
  const family = familyOf.get(id);
  if (family === undefined) return { permissions: [], conditions: [], limitations: [] };
  const { permissions, conditions, limitations } = facts[family];
  return {
    permissions:
      grantsPatents(id) && !permissions.includes('patent-use') ? [...permissions, 'patent-use'] : permissions,
    conditions: unconditional.has(id) ? [] : conditions,
    limitations,
  };
}

export const isPopular = (id: string): boolean => familyOf.has(id);

const nicknames: Readonly<Record<string, string>> = {
  'GPL-2.0-only': 'GNU GPLv2',
  'GPL-3.0-only': 'GNU GPLv3',
  'AGPL-3.0-only': 'GNU AGPLv3',
  'LGPL-2.1-only': 'GNU LGPLv2.1',
  'LGPL-3.0-only': 'GNU LGPLv3',
};
export const nicknameOf = (id: string): string | null => nicknames[id] ?? null;

/** The placeholders in SPDX texts, and the placeholders that clients expect. */
const marks: readonly (readonly [RegExp, string])[] = [
  [/<year>|<YEAR>|\[yyyy\]|<yyyy>|<date>/g, '[year]'],
  [
    /<copyright holders?>|<owner>|<OWNER>|<COPYRIGHT HOLDER>|\[name of copyright owner\]|<name of author>|<Owner Organization Name>|<AUTHOR>/g,
    '[fullname]',
  ],
  [
    /<one line to give the (?:program|library)'s name and (?:a brief )?(?:an )?idea of what it does\.>|<program>/g,
    '[project]',
  ],
];

/** A text with the placeholders that clients expect. */
export const withMarks = (text: string): string =>
  marks.reduce((marked, [pattern, mark]) => marked.replaceAll(pattern, mark), text);

/** A text in which known values replace their placeholders; other placeholders stay. */
export const filledIn = (
  text: string,
  { fullname, project, year }: { fullname: string | undefined; project: string | undefined; year: number },
): string =>
  text
    .replaceAll('[year]', String(year))
    .replaceAll('[fullname]', () => fullname || '[fullname]')
    .replaceAll('[project]', () => project || '[project]');
