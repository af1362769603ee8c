/** What is offered for files that many projects have. */
import { readFile } from 'node:fs/promises';
import { findPackageJSON } from 'node:module';
import path from 'node:path';
import licenseList from 'spdx-license-list';
import { installedFile } from '../../../foundation/installation.ts';
import { withMarks } from './license_rules.ts';

export const kinds = ['gitignores', 'dockerfiles', 'gitlab_ci_ymls'] as const;
export type Kind = (typeof kinds)[number];

type Texts = Readonly<Record<string, string>>;

const none: Texts = {};
const read = new Map<Kind, Promise<Texts>>();

async function readTexts(kind: Kind): Promise<Texts> {
  // Nothing runs what such a file says.
  if (kind === 'gitlab_ci_ymls') return none;
  const file = await readFile(installedFile(`templates/${kind}.json`), 'utf8');
  return (JSON.parse(file) as { templates: Texts }).templates;
}

/** The templates of a kind by their names. They are read once, when somebody asks for them. */
export function textsOf(kind: Kind): Promise<Texts> {
  const known = read.get(kind) ?? readTexts(kind);
  read.set(kind, known);
  return known;
}

export interface License {
  /** Its SPDX ID. */
  id: string;
  name: string;
  url: string;
}

/** IDs that SPDX has replaced by one with `-only` or `-or-later`. */
const isReplaced = (id: string): boolean => /^[AL]?GPL-/.test(id) && !/-only$|-or-later$/.test(id);

/** The licenses that the Open Source Initiative has approved, by their lower-case IDs. */
export const licenses: ReadonlyMap<string, License> = new Map(
  Object.entries(licenseList)
    .filter(([id, { osiApproved }]) => osiApproved && !isReplaced(id))
    .toSorted(([one], [other]) => (one.toLowerCase() < other.toLowerCase() ? -1 : 1))
    .map(([id, { name, url }]) => [id.toLowerCase(), { id, name, url }]),
);

async function readLicense({ id }: License): Promise<string> {
  const folder = path.dirname(findPackageJSON('spdx-license-list', import.meta.url)!);
  const file = await readFile(path.join(folder, 'licenses', `${id}.json`), 'utf8');
  return withMarks((JSON.parse(file) as { licenseText: string }).licenseText);
}

/** Of some hundred licenses together about a megabyte. */
const licenseTexts = new Map<string, Promise<string>>();

/** The text of a license. It is read once, when somebody asks for it. */
export function textOfLicense(license: License): Promise<string> {
  const text = licenseTexts.get(license.id) ?? readLicense(license);
  licenseTexts.set(license.id, text);
  return text;
}
