/** VitePress's own theme with the fonts that the reader's machine has, and our search. */
import type { EnhanceAppContext } from 'vitepress';
import DefaultTheme from 'vitepress/theme-without-fonts';
import { searchOptions } from '../search.js';
import Layout from './layout.vue';
import './style.css';

export default {
  extends: DefaultTheme,
  Layout,
  enhanceApp({ siteData }: EnhanceAppContext) {
    const { search } = siteData.value.themeConfig;
    // Here, because functions of the configuration lose what they import.
    search.options = { ...search.options, miniSearch: { searchOptions } };
  },
};
