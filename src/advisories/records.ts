/** Advisories as OSV records (https://ossf.github.io/osv-schema). */
import { advisedName } from '../lockfiles/index.ts';
import type { Range, RangeEvent } from './ranges.ts';
import { mostSevere, ofWord, type Severity } from './severities.ts';
import { ofVector } from './vectors.ts';

/** The packages of an advisory. */
export interface AffectedPackage {
  ecosystem: string;
  advised_name: string;
  ranges: Range[];
  versions: string[];
}

export interface Advisory {
  record_id: string;
  /** Other ids of the same vulnerability. */
  aliases: string[];
  /** The CVE id where it has one, otherwise the summary, otherwise the id. */
  name: string;
  summary: string;
  details: string;
  severity: Severity;
  /** Pages about the advisory. */
  links: string[];
  modified_at: string;
  /** Whether the record is no longer valid. */
  withdrawn: boolean;
  affected: AffectedPackage[];
}

/** A record cannot be read; the message is the reason, for people. */
export class InvalidRecord extends Error {
  override name = 'InvalidRecord';
}

const maximumName = 255;
const maximumDetails = 20_000;
const maximumLinks = 20;
const maximumVersions = 20_000;
const maximumAliases = 50;

type Fields = Record<string, unknown>;

const fieldsOf = (value: unknown): Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {};
const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

/** Removes characters that the database does not store. */
const textOf = (value: unknown): string => (typeof value === 'string' ? value.toWellFormed().replaceAll('\0', '') : '');
const isShort = (text: string) => text !== '' && text.length <= maximumName;

const kindsOfEvents = ['introduced', 'fixed', 'last_affected', 'limit'] as const;

function eventsOf(range: Fields): RangeEvent[] {
  return listOf(range.events).flatMap((event) => {
    const fields = fieldsOf(event);
    const kind = kindsOfEvents.find((each) => isShort(textOf(fields[each])));
    return kind === undefined ? [] : [{ [kind]: textOf(fields[kind]) } as RangeEvent];
  });
}

function rangesOf(affected: Fields): Range[] {
  return listOf(affected.ranges).flatMap((range) => {
    const fields = fieldsOf(range);
    const events = eventsOf(fields);
    const { type } = fields;
    return (type === 'SEMVER' || type === 'ECOSYSTEM') && events.length > 0 ? [{ type, events }] : [];
  });
}

function affectedOf(value: unknown): AffectedPackage[] {
  const fields = fieldsOf(value);
  const about = fieldsOf(fields.package);
  const [ecosystem, name] = [textOf(about.ecosystem), textOf(about.name)];
  if (!isShort(ecosystem) || !isShort(name)) return [];
  const versions = listOf(fields.versions).map(textOf).filter(isShort).slice(0, maximumVersions);
  const ranges = rangesOf(fields);
  if (ranges.length === 0 && versions.length === 0) return [];
  // A registry can be part of the name, as in `Packagist:https://packages.drupal.org/8`.
  const [base = ''] = ecosystem.split(':', 1);
  const known = /^(?:Debian|Alpine)$/.test(base) ? ecosystem : base;
  return [{ ecosystem: known, advised_name: advisedName(known, name), ranges, versions }];
}

function vectorsIn(value: unknown): (Severity | undefined)[] {
  const all = listOf(fieldsOf(value).severity).map(fieldsOf);
  // The newest CVSS version in the record is used.
  return (
    ['CVSS_V4', 'CVSS_V3', 'CVSS_V2']
      .map((type) =>
        all
          .filter((each) => each.type === type)
          .map(({ score }) => ofVector(textOf(score)))
          .filter((each) => each !== undefined),
      )
      .find((found) => found.length > 0) ?? []
  );
}

const wordIn = (value: unknown): Severity | undefined =>
  ofWord(textOf(fieldsOf(fieldsOf(value).database_specific).severity));

function severityOf(record: Fields): Severity {
  const affected = listOf(record.affected);
  for (const found of [vectorsIn(record), affected.flatMap(vectorsIn), [wordIn(record), ...affected.map(wordIn)]]) {
    const severity = mostSevere(found);
    if (severity !== 'unknown' || found.includes('unknown')) return severity;
  }
  return 'unknown';
}

function nameOf(id: string, aliases: readonly string[], summary: string): string {
  const cve = [id, ...aliases].filter((each) => each.startsWith('CVE-')).toSorted()[0];
  return cve ?? (summary === '' ? id : summary.slice(0, maximumName));
}

function parsed(text: string): Fields {
  try {
    return fieldsOf(JSON.parse(text));
  } catch (error) {
    throw new InvalidRecord(`it is not JSON: ${(error as Error).message.slice(0, 100)}`);
  }
}

/**
 * Reads an OSV record.
 * @throws InvalidRecord
 */
export function readRecord(text: string): Advisory {
  const record = parsed(text);
  const record_id = textOf(record.id);
  if (!/^[\w.:+-]{1,100}$/.test(record_id)) throw new InvalidRecord('it has no id');
  const modified = new Date(textOf(record.modified));
  if (Number.isNaN(modified.getTime())) throw new InvalidRecord('it does not say when it was modified');
  if (record.affected !== undefined && !Array.isArray(record.affected))
    throw new InvalidRecord('`affected` is not a list');
  const aliases = listOf(record.aliases).map(textOf).filter(isShort).slice(0, maximumAliases);
  const summary = textOf(record.summary).trim();
  return {
    record_id,
    aliases,
    name: nameOf(record_id, aliases, summary),
    summary: summary.slice(0, maximumName),
    details: textOf(record.details).slice(0, maximumDetails).toWellFormed(),
    severity: severityOf(record),
    links: listOf(record.references)
      .map((reference) => textOf(fieldsOf(reference).url))
      .filter((url) => /^https?:\/\//.test(url) && url.length <= 2_000)
      .slice(0, maximumLinks),
    modified_at: modified.toISOString(),
    withdrawn: record.withdrawn !== undefined && record.withdrawn !== null,
    affected: listOf(record.affected).flatMap(affectedOf),
  };
}
