//! Space for another subscriber. Strangers enter addresses, so those that nobody has confirmed give
//! way to others: whoever fills a page with them closes neither this page nor others.

use crate::areas::status::limits;

/// How many subscribers there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SubscriberCounts {
    pub(super) all: usize,
    pub(super) of_page: usize,
    pub(super) unconfirmed: usize,
    pub(super) unconfirmed_of_page: usize,
}

/// Whether there is space for another subscriber of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Space {
    /// There is.
    Free,
    /// The oldest one of the page that has not confirmed its address gives way, for this limit.
    OfPage(&'static str),
    /// The oldest one of the page with the most unconfirmed addresses gives way, for this limit.
    OfLargestPage(&'static str),
}

impl SubscriberCounts {
    /// Returns whether there is space for another one.
    pub(super) fn space(self) -> Space {
        if self.of_page >= limits::SUBSCRIBERS_OF_PAGE_MAX {
            Space::OfPage("the limit of subscribers of this page is reached")
        } else if self.unconfirmed_of_page >= limits::UNCONFIRMED_OF_PAGE_MAX {
            Space::OfPage("too many subscriptions of this page wait for confirmation")
        } else if self.all >= limits::SUBSCRIBERS_MAX {
            Space::OfLargestPage("the limit of subscribers is reached")
        } else if self.unconfirmed >= limits::UNCONFIRMED_MAX {
            Space::OfLargestPage("too many subscriptions wait for confirmation")
        } else {
            Space::Free
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_that_is_full_gives_way_before_others() {
        let (all, of_page) = (limits::SUBSCRIBERS_MAX, limits::SUBSCRIBERS_OF_PAGE_MAX);
        let unconfirmed = limits::UNCONFIRMED_MAX;
        let unconfirmed_of_page = limits::UNCONFIRMED_OF_PAGE_MAX;
        let most = SubscriberCounts {
            all: all - 1,
            of_page: of_page - 1,
            unconfirmed: unconfirmed - 1,
            unconfirmed_of_page: unconfirmed_of_page - 1,
        };
        assert_eq!(most.space(), Space::Free);
        let full = SubscriberCounts { all, of_page, unconfirmed, unconfirmed_of_page };
        let of_page = Space::OfPage("the limit of subscribers of this page is reached");
        assert_eq!(full.space(), of_page);
        assert_eq!(SubscriberCounts { of_page: full.of_page, ..most }.space(), of_page);
        let waiting = Space::OfPage("too many subscriptions of this page wait for confirmation");
        assert_eq!(SubscriberCounts { of_page: 1, ..full }.space(), waiting);
        let all = Space::OfLargestPage("the limit of subscribers is reached");
        assert_eq!(SubscriberCounts { all: full.all, ..most }.space(), all);
        let waiting = Space::OfLargestPage("too many subscriptions wait for confirmation");
        assert_eq!(SubscriberCounts { unconfirmed, ..most }.space(), waiting);
    }
}
