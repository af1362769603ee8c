/** Metadata: the version of the API, from which clients determine the available features. */
import { Type } from 'typebox';
import { anyone, signedIn } from '../../../access/index.ts';
import { installedBuild, installedVersion } from '../../../foundation/installation.ts';
import { get, nullable, one, resource } from '../../../http/index.ts';
import { apiLevel } from './rules.ts';

const Metadata = resource('Metadata', {
  version: Type.String({ description: 'The level of the API, for clients' }),
  revision: Type.String({ description: 'The build of the server' }),
  kas: Type.Object({
    enabled: Type.Boolean(),
    externalUrl: nullable(Type.String()),
    externalK8sProxyUrl: nullable(Type.String()),
    version: nullable(Type.String()),
  }),
  enterprise: Type.Boolean(),
  product: Type.String(),
  product_version: Type.String(),
});

const metadata = () => ({
  version: apiLevel,
  revision: installedBuild,
  kas: { enabled: false, externalUrl: null, externalK8sProxyUrl: null, version: null },
  enterprise: true,
  product: 'Coppice',
  product_version: installedVersion,
});

const shared = { access: signedIn, scopes: ['read_user'], returns: one(Metadata), handle: metadata };

export const metadataRoutes = [
  get('/metadata', { operation: 'getMetadata', summary: 'Show the version of the API', ...shared }),
  get('/version', { operation: 'getVersion', summary: 'Show the version of the API', deprecated: true, ...shared }),
  get('/', {
    operation: 'getApiRoot',
    summary: 'Check that the API is available',
    access: anyone,
    scopes: 'any',
    returns: one(Type.Object({ message: Type.String() })),
    handle: () => ({ message: 'Coppice API v4' }),
  }),
];
