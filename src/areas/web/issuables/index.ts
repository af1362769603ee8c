/** The parts shared by the pages of issues and merge requests. */
export type { Award, NoteTexts, Thread, Timeline } from './definition.ts';
export { type Choices, choicesOf, namesOf, peopleField, planningFields } from './field_present.ts';
export { conversationForms, editedTexts, presentText } from './form_rules.ts';
export { filtersIn, sharedFilters } from './list_rules.ts';
export { pathIn, pathOf, type TextPlace, textsAsHtml } from './present.ts';
export { offeredText } from './template_queries.ts';
export { textsOf, timelineOf } from './timeline_present.ts';
export { threadView, timelineView } from './timeline_views.ts';
export { bodyField, filtersView, labelsView, reactionsView, stateForms, statesView } from './views.ts';
