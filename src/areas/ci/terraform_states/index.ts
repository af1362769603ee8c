/** The interface of states of Terraform to other districts. */
export { terraformStateDoors, terraformStateDoorway } from './http.ts';
export { terraformStateFiles } from './queries.ts';
export { terraformStateRoutes } from './routes.ts';
