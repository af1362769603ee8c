/** The two names under which the API shows sites (docs/reference/geo.md). */

/** A name of sites in paths, texts and schemas. */
export interface Noun {
  name: 'node' | 'site';
  /** The common prefix of the paths of its endpoints. */
  path: '/geo_nodes' | '/geo_sites';
  /** The name in schemas and operations, and in the refusal of an unknown id. */
  resource: 'GeoNode' | 'GeoSite';
  /** The name in sentences. */
  title: 'Geo node' | 'Geo site';
}

export const nouns: readonly Noun[] = [
  { name: 'node', path: '/geo_nodes', resource: 'GeoNode', title: 'Geo node' },
  { name: 'site', path: '/geo_sites', resource: 'GeoSite', title: 'Geo site' },
];
