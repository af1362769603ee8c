/** Pages that are declared. */
export { besideMap, type DeclaredField, fieldsOf, formOf, part, settingsPage } from './definition.ts';
export { choicesOf, fieldsFor, formPart, reading } from './form_present.ts';
export { listPart } from './list_present.ts';
export { dotted, onceView, textOf } from './views.ts';
