/** Dependencies as files: CycloneDX 1.6, SPDX 2.3 and CSV, streamed. */
import { createHash } from 'node:crypto';
import { pagePath } from '../../../foundation/addresses.ts';
import { namedLicenses, purlOf } from '../../../lockfiles/index.ts';
import { csvLine } from '../../../texts/index.ts';
import { severityOf } from '../vulnerabilities/present.ts';
import type { ExportedDependency } from './export_queries.ts';

export const exportTypes = ['cyclonedx_1_6_json', 'spdx_2_3_json', 'csv'] as const;
export type ExportType = (typeof exportTypes)[number];

/** The project of an export, and its time. */
export interface Exported {
  project: { id: number; name: string; full_path: string };
  /** The external address of the server. */
  url: string;
  at: Date;
  /** Whether the reader may see vulnerabilities. */
  with_vulnerabilities: boolean;
  /** The rows in order; each call starts from the beginning. */
  rows(): AsyncIterable<ExportedDependency[]>;
}

/** A UUID that identifies the export and reveals nothing else. */
function uuidOf({ project, url, at }: Exported): string {
  const hash = createHash('sha256').update(`${url} ${project.id} ${at.toISOString()}`).digest('hex');
  return `${hash.slice(0, 8)}-${hash.slice(8, 12)}-5${hash.slice(13, 16)}-8${hash.slice(17, 20)}-${hash.slice(20, 32)}`;
}

const exportedPage = pagePath('/:project/-/dependencies/:export_uuid');

const refOf = ({ id }: ExportedDependency) => `dependency-${id}`;

/** The items of a JSON array, with a comma before each but the first. */
async function* listed(
  rows: AsyncIterable<ExportedDependency[]>,
  itemsOf: (row: ExportedDependency) => unknown[],
): AsyncGenerator<string> {
  let separator = '';
  for await (const some of rows) {
    const items = some.flatMap(itemsOf).map((item) => JSON.stringify(item));
    if (items.length === 0) continue;
    yield separator + items.join(',\n');
    separator = ',\n';
  }
}

/** An object without its closing brace, so that more members can follow. */
const opened = (value: object) => JSON.stringify(value).slice(0, -1);

function cycloneComponent(row: ExportedDependency): object {
  const licenses = namedLicenses(row.licenses).filter(({ name }) => name !== 'unknown');
  const property = (name: string, value: string) => ({ name: `gitlab:dependency_scanning:${name}`, value });
  return {
    type: 'library',
    'bom-ref': refOf(row),
    name: row.name,
    version: row.version,
    purl: purlOf(row.package_manager, row.name, row.version),
    ...(licenses.length > 0 && {
      licenses: licenses.map(({ name, spdx_identifier }) => ({
        license:
          spdx_identifier === null || /[ +]|^LicenseRef-/.test(spdx_identifier) ? { name } : { id: spdx_identifier },
      })),
    }),
    properties: [
      property('input_file:path', row.path),
      property('package_manager:name', row.package_manager),
      ...(row.development ? [property('category', 'development')] : []),
    ],
  };
}

const cycloneVulnerabilities = (row: ExportedDependency): object[] =>
  row.vulnerabilities.map(({ id, name, severity }) => ({
    'bom-ref': `vulnerability-${id}-${row.id}`,
    id: name,
    ratings: [{ severity: severityOf(severity) }],
    affects: [{ ref: refOf(row) }],
  }));

async function* cycloneDx(exported: Exported): AsyncGenerator<string> {
  const { project, at } = exported;
  yield opened({
    $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    serialNumber: `urn:uuid:${uuidOf(exported)}`,
    version: 1,
    metadata: {
      timestamp: at.toISOString(),
      tools: { components: [{ type: 'application', name: 'Coppice' }] },
      component: { type: 'application', 'bom-ref': 'project', name: project.full_path },
    },
  });
  yield ',"components":[\n';
  yield* listed(exported.rows(), (row) => [cycloneComponent(row)]);
  if (exported.with_vulnerabilities) {
    yield '\n],"vulnerabilities":[\n';
    yield* listed(exported.rows(), cycloneVulnerabilities);
  }
  yield '\n]}\n';
}

const spdxId = (row: ExportedDependency) => `SPDXRef-Package-${row.id}`;

function spdxPackage(row: ExportedDependency): object {
  const licenses = namedLicenses(row.licenses).map(({ spdx_identifier }) => spdx_identifier);
  const isKnown = row.licenses.length > 0 && !licenses.includes(null);
  return {
    SPDXID: spdxId(row),
    name: row.name,
    versionInfo: row.version,
    downloadLocation: 'NOASSERTION',
    filesAnalyzed: false,
    licenseConcluded: 'NOASSERTION',
    licenseDeclared: isKnown ? licenses.join(' AND ') : 'NOASSERTION',
    copyrightText: 'NOASSERTION',
    sourceInfo: row.path,
    externalRefs: [
      {
        referenceCategory: 'PACKAGE-MANAGER',
        referenceType: 'purl',
        referenceLocator: purlOf(row.package_manager, row.name, row.version),
      },
    ],
  };
}

async function* spdx(exported: Exported): AsyncGenerator<string> {
  const { project, url, at } = exported;
  const subject = 'SPDXRef-Project';
  yield opened({
    spdxVersion: 'SPDX-2.3',
    dataLicense: 'CC0-1.0',
    SPDXID: 'SPDXRef-DOCUMENT',
    name: project.full_path,
    documentNamespace: url + exportedPage(project.full_path, uuidOf(exported)),
    creationInfo: { created: `${at.toISOString().slice(0, 19)}Z`, creators: ['Tool: Coppice'] },
  });
  const root = { SPDXID: subject, name: project.full_path, downloadLocation: 'NOASSERTION', filesAnalyzed: false };
  const none = { licenseConcluded: 'NOASSERTION', licenseDeclared: 'NOASSERTION', copyrightText: 'NOASSERTION' };
  yield `,"packages":[\n${JSON.stringify({ ...root, ...none })}`;
  for await (const some of exported.rows()) yield some.map((row) => `,\n${JSON.stringify(spdxPackage(row))}`).join('');
  const relation = (from: string, type: string, to: string) =>
    JSON.stringify({ spdxElementId: from, relationshipType: type, relatedSpdxElement: to });
  yield `\n],"relationships":[\n${relation('SPDXRef-DOCUMENT', 'DESCRIBES', subject)}`;
  for await (const some of exported.rows())
    yield some.map((row) => `,\n${relation(subject, 'DEPENDS_ON', spdxId(row))}`).join('');
  yield '\n]}\n';
}

async function* csv(exported: Exported): AsyncGenerator<string> {
  const heads = ['name', 'version', 'package_manager', 'dependency_file_path', 'licenses'];
  yield csvLine([...heads, ...(exported.with_vulnerabilities ? ['vulnerabilities'] : [])]);
  const line = (row: ExportedDependency) => {
    const licenses = namedLicenses(row.licenses).map(({ name, spdx_identifier }) => spdx_identifier ?? name);
    const vulnerabilities = row.vulnerabilities.map(({ name, severity }) => `${name} (${severityOf(severity)})`);
    const texts = [row.name, row.version, row.package_manager, row.path, licenses.join('; ')];
    return csvLine([...texts, ...(exported.with_vulnerabilities ? [vulnerabilities.join('; ')] : [])]);
  };
  for await (const some of exported.rows()) yield some.map(line).join('');
}

const writers: Record<
  ExportType,
  { write: (exported: Exported) => AsyncGenerator<string>; media_type: string; extension: string }
> = {
  cyclonedx_1_6_json: { write: cycloneDx, media_type: 'application/vnd.cyclonedx+json', extension: 'cdx.json' },
  spdx_2_3_json: { write: spdx, media_type: 'application/spdx+json', extension: 'spdx.json' },
  csv: { write: csv, media_type: 'text/csv', extension: 'csv' },
};

export const exportMediaTypes = Object.values(writers).map(({ media_type }) => media_type);

/** The writer, media type and file extension of a format. */
export const writerOf = (type: ExportType) => writers[type];
