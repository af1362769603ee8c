/** Templates for common files of projects. */
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
  // There are none: configurations include files of projects.
  if (kind === 'gitlab_ci_ymls') return none;
  const file = await readFile(installedFile(`templates/${kind}.json`), 'utf8');
  return (JSON.parse(file) as { templates: Texts }).templates;
}

/** The templates of a kind by name, loaded on first use. */
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

/** Deprecated SPDX IDs, replaced by IDs with `-only` or `-or-later`. */
const isReplaced = (id: string): boolean => /^[AL]?GPL-/.test(id) && !/-only$|-or-later$/.test(id);

/** The licenses approved by the Open Source Initiative, by lower-case ID. */
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

/** Some hundred licenses, about one megabyte in total. */
const licenseTexts = new Map<string, Promise<string>>();

/** The text of a license, loaded on first use. */
export function textOfLicense(license: License): Promise<string> {
  const text = licenseTexts.get(license.id) ?? readLicense(license);
  licenseTexts.set(license.id, text);
  return text;
}
