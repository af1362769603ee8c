/** What is in the JSON of a report of a scanner (docs/reference/vulnerabilities.md#reports-of-jobs). Pure functions. */
import { hash } from 'node:crypto';
import { ofWord, severities } from '../advisories/index.ts';
import { billsOf } from './bills.ts';
import { memberOf, textIn } from './members.ts';

export const reportTypes = ['dependency_scanning', 'sast', 'secret_detection', 'container_scanning', 'dast'] as const;

/** One thing that a report found. */
export interface Finding {
  /** The same in each report that finds the same at the same place. */
  cluster: string;
  name: string;
  /** The position in the list of severities. */
  severity: number;
  description: string;
  solution: string | null;
  location: Record<string, string | number>;
  identifiers: { type: string; name: string; value: string; url: string | null }[];
  links: string[];
  package_name: string | null;
  package_version: string | null;
}

export interface Findings {
  findings: Finding[];
  /** Bills of materials in the format of CycloneDX. */
  bills: string[];
}

const maximumFindings = 10_000;
const maximumName = 255;
const maximumText = 20_000;
/** The most links, and the most identifiers, of a finding. */
const maximumListed = 20;

/** Where one report ends and the next one begins: a runner sends all files of a report as one. */
const between = /(?<=\})\s*(?=\{\s*"(?:version|scan|schema|\$schema|vulnerabilities)")/;

const places = [
  ...(['file', 'start_line', 'end_line', 'class', 'method', 'image', 'operating_system'] as const),
  ...(['hostname', 'path', 'param'] as const),
];

function listIn(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

const addressIn = (value: unknown): string | null => {
  const address = textIn(memberOf(value, 'url'), 2_000);
  return address !== null && /^https?:\/\//i.test(address) ? address : null;
};

function locationIn(vulnerability: unknown): Finding['location'] {
  const given = memberOf(vulnerability, 'location');
  return Object.fromEntries(
    places.flatMap((place) => {
      const value = memberOf(given, place);
      const shown = Number.isSafeInteger(value) ? (value as number) : textIn(value, 1_000);
      return shown === null ? [] : [[place, shown]];
    }),
  );
}

function identifiersIn(vulnerability: unknown): Finding['identifiers'] {
  return listIn(memberOf(vulnerability, 'identifiers'))
    .slice(0, maximumListed)
    .map((each) => {
      const [type, name, value] = (['type', 'name', 'value'] as const).map(
        (member) => textIn(memberOf(each, member), maximumName) ?? '',
      ) as [string, string, string];
      return { type, name: name || value, value: value || name, url: addressIn(each) };
    });
}

/** The CVE ID, otherwise the title or the first identifier. */
function nameOf(vulnerability: unknown, identifiers: Finding['identifiers']): string {
  const cve = identifiers.find(({ type }) => type.toLowerCase() === 'cve');
  const [title, message] = (['name', 'message'] as const).map((member) =>
    textIn(memberOf(vulnerability, member), maximumName),
  );
  return cve?.value || title || message || identifiers[0]?.name || 'Unnamed';
}

function findingIn(vulnerability: unknown, report_type: string): Finding {
  const identifiers = identifiersIn(vulnerability);
  const location = locationIn(vulnerability);
  const dependency = memberOf(memberOf(vulnerability, 'location'), 'dependency');
  const package_name = textIn(memberOf(memberOf(dependency, 'package'), 'name'), maximumName);
  const name = nameOf(vulnerability, identifiers);
  const [{ type, value } = { type: 'name', value: name }] = identifiers;
  const place = places.map((each) => location[each] ?? null);
  const severity = ofWord(textIn(memberOf(vulnerability, 'severity'), maximumName) ?? '') ?? 'unknown';
  return {
    cluster: `${report_type} ${hash('sha256', JSON.stringify([type, value, place, package_name]))}`,
    ...{ name, severity: severities.indexOf(severity), location, identifiers, package_name },
    package_version: textIn(memberOf(dependency, 'version'), maximumName),
    description: textIn(memberOf(vulnerability, 'description'), maximumText) ?? '',
    solution: textIn(memberOf(vulnerability, 'solution'), maximumText),
    links: listIn(memberOf(vulnerability, 'links'))
      .slice(0, maximumListed)
      .flatMap((each) => addressIn(each) ?? []),
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * What a report found. What has another shape is left out.
 * @param text one report, or several
 */
export function findingsOf(text: string, report_type: string): Findings {
  const documents = text.split(between).map(parsed);
  const found = new Map<string, Finding>();
  for (const vulnerability of documents.flatMap((each) => listIn(memberOf(each, 'vulnerabilities')))) {
    const finding = findingIn(vulnerability, report_type);
    if (found.size < maximumFindings) found.set(finding.cluster, finding);
  }
  const bills = report_type === 'dependency_scanning' ? documents.flatMap(billsOf) : [];
  return { findings: [...found.values()], bills };
}
