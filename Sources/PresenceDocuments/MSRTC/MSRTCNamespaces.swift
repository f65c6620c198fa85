import XMLCore

/// Namespaces of the MS-PRES documents (MS-PRES 6 to 10); those of SIMPLE are in Namespaces.swift.
extension XMLNamespace {
    /// Categories document, and bodies that inherit its namespace (MS-PRES 6.2, 7.6, 7.7, 7.10).
    public static let msCategories = XMLNamespace("http://schemas.microsoft.com/2006/09/sip/categories")
    /// Delimiter, end and extension of category bodies (MS-PRES 7.1).
    public static let msCommonTypes = XMLNamespace("http://schemas.microsoft.com/2006/09/sip/commontypes")
    /// state and dndState (MS-PRES 7.2).
    public static let msState = XMLNamespace("http://schemas.microsoft.com/2006/09/sip/state")
    /// note (MS-PRES 4.2).
    public static let msNote = XMLNamespace("http://schemas.microsoft.com/2006/09/sip/note")
    /// contactCard (MS-PRES 7.3).
    public static let msContactCard = XMLNamespace("http://schemas.microsoft.com/2006/09/sip/contactcard")
    /// device (MS-PRES 7.4).
    public static let msDevice = XMLNamespace("http://schemas.microsoft.com/2006/09/sip/device")
    /// services (MS-PRES 7.5).
    public static let msService = XMLNamespace("http://schemas.microsoft.com/2006/09/sip/service")
    /// calendarData and workingHours (MS-PRES 7.8).
    public static let msCalendarData = XMLNamespace("http://schemas.microsoft.com/2006/09/sip/calendarData")
    /// Working hours inside calendarData (MS-PRES 7.8).
    public static let msExchangeTypes = XMLNamespace("http://schemas.microsoft.com/exchange/services/2006/types")
    /// Publish request (MS-PRES 6.10).
    public static let msRichPresence = XMLNamespace("http://schemas.microsoft.com/2006/09/sip/rich-presence")
    /// Self subscription request and answer (MS-PRES 6.6, 6.7).
    public static let msRoamingSelf = XMLNamespace("http://schemas.microsoft.com/2006/09/sip/roaming-self")
    /// Delegates in a self subscription request (MS-PRES 6.6).
    public static let msRoamingSelfEx = XMLNamespace("http://schemas.microsoft.com/2007/09/sip/roaming-self-ex")
    /// Containers document (MS-PRES 6.3).
    public static let msContainers = XMLNamespace("http://schemas.microsoft.com/2006/09/sip/containers")
    /// Subscriber list (MS-PRES 6.4).
    public static let msSubscribers = XMLNamespace("http://schemas.microsoft.com/2006/09/sip/presence-subscribers")
    /// Delegates document (MS-PRES 6.5).
    public static let msDelegates = XMLNamespace("http://schemas.microsoft.com/2007/09/sip/delegates")
    /// Category SUBSCRIBE request (MS-PRES 6.8).
    public static let msBatchSubscribe = XMLNamespace("http://schemas.microsoft.com/2006/01/sip/batch-subscribe")
    /// Categories of a category SUBSCRIBE request (MS-PRES 6.8).
    public static let msCategoryList = XMLNamespace("http://schemas.microsoft.com/2006/09/sip/categorylist")
    /// Provisioning request of vnd-microsoft-provisioning-v2.
    public static let msProvisioningGroupList = XMLNamespace("http://schemas.microsoft.com/2006/09/sip/provisioninggrouplist")
    /// Provisioning answer of vnd-microsoft-provisioning-v2.
    public static let msProvisionGroupList = XMLNamespace("http://schemas.microsoft.com/2006/09/sip/provisiongrouplist-notification")
    /// setContainerMembers request (MS-PRES 6.11).
    public static let msContainerManagement = XMLNamespace("http://schemas.microsoft.com/2006/09/sip/container-management")
    /// Subscription context (MS-PRES 6.13).
    public static let msSubscriptionContext = XMLNamespace("http://schemas.microsoft.com/2008/09/sip/SubscriptionContext")
    /// msrtc.pidf (MS-PRES 9).
    public static let msPresence = XMLNamespace("http://schemas.microsoft.com/2002/09/sip/presence")
}
